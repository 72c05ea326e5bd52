//! A document that is read in windows gives what it gives when it is read whole, or is left to that.
#![no_main]

use std::io::Cursor;
use std::sync::atomic::AtomicBool;

use libfuzzer_sys::fuzz_target;
use polyloop::context::Store;
use polyloop::read::{self, Format, Input};
use polyloop::stream::{self, Options, Sizes};
use polyloop::{assemble, measure};

fuzz_target!(|data: &[u8]| {
    let Some((&[window, shortest, format], document)) = data.split_first_chunk() else { return };
    let format = [Format::Json, Format::JsonLines, Format::Yaml][usize::from(format) % 3];
    let sizes = Sizes { window: 1 + usize::from(window), shortest: usize::from(shortest) };
    let options = Options { digest: true, own_thread: false, sizes, ..Options::default() };
    let whole = read::decode(document).and_then(|text| read::read(text, Some(format)));

    let mut file = Cursor::new(document);
    if format == Format::Json
        && let Some(mut rendered) = stream::render(&mut file, options)
    {
        let Ok(Input::Request(request)) = &whole else { panic!("taken in windows, and refused whole") };
        let context = assemble(request, None).expect("it assembles");
        let mut written = Vec::new();
        rendered.write(&mut file, &mut written).expect("the file is as it was");
        assert!(written == context.to_canonical());
        assert_eq!(rendered.digest(), Some(context.digest()));
        assert_eq!(rendered.size, measure::context(&context));
    } else if let (Format::Json, Ok(Input::Request(request))) = (format, &whole)
        && !request.needs_selection()
    {
        panic!("left, though it is a request");
    }

    let store = Store::new(Cursor::new(document.to_vec()));
    let Some(mut outline) = stream::outline(&mut file, &store, Some(format), options, &AtomicBool::new(false)) else { return };
    let Some(kept) = outline.input() else { return };
    let mut context = match (&kept.input, &whole) {
        (Input::Request(request), Ok(Input::Request(_))) => assemble(request, None).expect("it assembles"),
        (Input::Recorded(recorded), Ok(Input::Recorded(_))) => recorded.context.clone(),
        _ => panic!("outlined as what it is not"),
    };
    let expected = match whole {
        Ok(Input::Request(request)) => assemble(&request, None).expect("it assembles").to_canonical(),
        Ok(Input::Recorded(recorded)) => recorded.context.to_canonical(),
        Err(_) => return,
    };
    assert!(context.to_canonical() == expected);
    stream::sign(&mut context, &kept.fingerprints);
    assert_eq!(context.canonical_len(), expected.len() as u64);
    assert!(kept.digest.is_none_or(|digest| digest == context.digest()));
    store.check().expect("every text was there");
});
