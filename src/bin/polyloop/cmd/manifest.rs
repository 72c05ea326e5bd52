//! `polyloop manifest`

use polyloop::read::{self, Input};
use polyloop::write::{ManifestView, write_manifest_yaml};
use polyloop::{Code, Error, select};

use super::render::{check_steps, of_verdict};
use crate::args::{Manifest, ManifestFormat};
use crate::exit::Exit;
use crate::input::{Document, folder_of};
use crate::io::{refuse_overwriting, write_json, write_out};
use crate::terminal::Terminal;

pub fn run(args: &Manifest, terminal: &Terminal) -> anyhow::Result<Exit> {
    refuse_overwriting(args.output.as_deref(), [args.input.as_path()])?;
    let folder = folder_of(&args.input, &args.root)?;
    let source = Document::open(&args.input)?.hold()?;
    let named = |error: Error| error.with_source(&source.name);
    let text = source.text()?;
    let format = source.format_of(text);
    let placed = |error: Error| named(read::place(error, text, Some(format)));
    let Input::Request(request) = read::read(text, Some(format)).map_err(named)? else {
        return Err(named(Error::new(Code::InputShape, "a manifest is of a run request, not of recorded messages"))
            .with_hint("polyloop render shows what is recorded")
            .into());
    };
    let request = request.resolve(&folder).map_err(placed)?;
    check_steps(args.steps, request.parts().trajectory.len())?;
    let selection = select(&request, args.steps).map_err(placed)?;
    let manifest = selection.manifest();
    let manifest = if args.show_content { manifest.with_content() } else { manifest };
    write_out(args.output.as_deref(), |out| match args.format {
        ManifestFormat::Json => write_json(out, &manifest, true),
        ManifestFormat::Yaml => write_manifest_yaml(&manifest, out),
        ManifestFormat::Text => {
            let look = terminal.look(args.output.as_deref());
            ManifestView::new(&selection, &manifest, &look, args.show_content).write(out)
        }
    })?;
    Ok(of_verdict(selection.space.verdict))
}
