//! Fragments on the command line: where their files may be, and what every format says of a selection.

use crate::Scratch;
use crate::common::{assert_calm, assert_error_document, command, fixture, polyloop, polyloop_with, run};

const NAMES_A_FILE: &str = "{\"goal\": [{\"role\": \"user\", \"content\": \"Go.\"}], \"fragments\": [{\"id\": \"a\", \
                            \"kind\": \"evidence\", \"file\": {\"path\": \"../a.txt\"}}]}\n";

#[test]
fn files_are_read_from_the_folder_of_the_request() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.join("in")).expect("a folder can be made");
    let request = scratch.file("in/request.json", NAMES_A_FILE);
    scratch.file("a.txt", "from above\n");
    let root = scratch.path().to_str().expect("the path is UTF-8");
    for words in
        [vec!["render", &request], vec!["manifest", &request], vec!["diff", &request, &fixture("minimal/request.yaml")]]
    {
        let refused = polyloop(&words);
        assert!(refused.fails().stderr.contains("leads out of the folder"), "{}", refused.stderr);
        let taken = polyloop(words.iter().copied().chain(["--root", root]));
        assert!(matches!(taken.code, Some(0 | 1)), "{}", taken.stderr);
    }
    let wrong = polyloop(["render", &request, "--root", "no/such/folder"]);
    assert!(wrong.fails().stderr.contains("--root is no folder"), "{}", wrong.stderr);

    let golden = polyloop(["render", &request, "--root", root, "-f", "jsonl"]);
    scratch.file("in/request.render.jsonl", &golden.exits(0).stdout);
    polyloop(["check", &request]).exits(2);
    polyloop(["check", &request, "--root", root]).exits(0);
}

#[test]
fn a_batch_reads_from_its_folder_and_standard_input_from_the_current_one() {
    let scratch = Scratch::new();
    let plain = NAMES_A_FILE.replace("../", "");
    scratch.file("a.txt", "beside\n");
    let batch = scratch.file("requests.jsonl", format!("{plain}{NAMES_A_FILE}{plain}"));
    let ran = polyloop(["render", &batch, "-f", "json"]);
    let lines: Vec<serde_json::Value> =
        ran.exits(2).text().lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    assert_eq!(lines[0]["messages"][1]["blocks"][0]["text"], "beside\n");
    assert_error_document(&lines[1]);
    assert_eq!(lines[1]["code"], "fragment.path_outside");
    assert_eq!(lines[1]["line"], 2);
    assert_eq!(lines[2]["digest"], lines[0]["digest"]);

    let mut here = command(["render", "-", "-f", "digest"]);
    here.current_dir(scratch.path());
    let ran = run(&mut here, plain.as_bytes());
    assert_eq!(ran.exits(0).text().trim(), lines[0]["digest"]);
}

#[test]
fn equal_requests_in_two_folders_may_differ() {
    let scratch = Scratch::new();
    let request = NAMES_A_FILE.replace("../", "");
    for (folder, text) in [("one", "1\n"), ("two", "2\n")] {
        std::fs::create_dir(scratch.join(folder)).expect("a folder can be made");
        scratch.file(format!("{folder}/request.json"), &request);
        scratch.file(format!("{folder}/a.txt"), text);
    }
    let path = |folder: &str| scratch.join(format!("{folder}/request.json"));
    for threads in ["1", "2"] {
        let ran = polyloop([path("one").as_os_str(), path("two").as_os_str()].into_iter().fold(
            vec!["diff".as_ref(), "--quiet".as_ref(), "--threads".as_ref(), threads.as_ref()],
            |mut words, path| {
                words.push(path);
                words
            },
        ));
        ran.exits(1);
    }
}

#[test]
fn what_is_required_and_does_not_fit_is_3_in_every_format() {
    let request = fixture("fragments/err_required_exceeds/request.yaml");
    for words in [
        ["render", "-f", "text"],
        ["render", "-f", "json"],
        ["render", "-f", "jsonl"],
        ["render", "-f", "yaml"],
        ["render", "-f", "digest"],
        ["manifest", "-f", "text"],
        ["manifest", "-f", "json"],
        ["manifest", "-f", "yaml"],
    ] {
        let ran = polyloop(words.iter().copied().chain([&*request]));
        let said = &ran.exits(3).stderr;
        assert!(said.contains("fragments[0]#a 12") && said.contains(":2:18:"), "{said}");
        assert_eq!(ran.stdout.is_empty(), words[2] != "json");
    }
}

#[test]
fn what_is_not_known_to_fit_is_1_in_every_format() {
    let request = fixture("fragments/tokens_unknown/request.yaml");
    for format in ["text", "json", "jsonl", "yaml", "digest"] {
        let ran = polyloop(["render", &request, "-f", format]);
        assert!(!ran.exits(1).stdout.is_empty());
        let says = format!("{}{}", ran.text(), ran.stderr);
        assert!(says.contains("unknown"), "{says}");
    }
}

#[test]
fn the_view_of_a_render_counts_fragments() {
    let ran = polyloop(["render", &fixture("fragments/group/request.yaml"), "--summary"]);
    let text = ran.exits(0).text();
    assert!(text.contains("\n fragments "), "{text}");
    assert!(text.contains("\n chosen  2 in, 4 out (1 stale, 1 over_budget, 2 group)"), "{text}");
}

#[test]
fn a_manifest_is_of_one_request() {
    let recorded = polyloop_with(["manifest", "-"], b"[{\"role\": \"user\", \"content\": \"x\"}]");
    assert!(recorded.fails().stderr.contains("of a run request"), "{}", recorded.stderr);
    polyloop(["manifest", &fixture("batch/requests.jsonl")]).fails();
    let steps = polyloop(["manifest", &fixture("react/request.yaml"), "--steps", "99"]);
    assert!(steps.fails().stderr.contains("--steps 99"), "{}", steps.stderr);
    let document = polyloop(["manifest", &fixture("react/request.yaml"), "--steps", "1", "-f", "json"]).json();
    let origins = document["entries"].as_array().expect("entries are a list").iter().map(|entry| &entry["origin"]);
    assert_eq!(origins.filter(|origin| origin.as_str().is_some_and(|it| it.starts_with("trajectory"))).count(), 1);
}

#[test]
fn contents_are_shown_where_they_are_asked_for() {
    let request = fixture("fragments/duplicate/request.yaml");
    let plain = polyloop(["manifest", &request, "-f", "json"]);
    assert!(!plain.exits(0).text().contains("The port is"));
    let shown = polyloop(["manifest", &request, "-f", "json", "--show-content"]);
    assert_eq!(shown.exits(0).text().matches("The port is").count(), 3);
    let view = polyloop(["manifest", &request, "--show-content"]);
    assert_calm(view.exits(0).text());
    assert_eq!(view.text().matches("The port is").count(), 3, "{}", view.text());
}

#[test]
fn names_in_a_manifest_are_shown_escaped() {
    let nasty = "a\\u001b[31mb\\u202ec\\u0000d";
    let request = format!(
        "{{\"conflicts\": {{}}, \"fragments\": [{{\"id\": \"{nasty}\", \"kind\": \"evidence\", \"content\": \"{nasty}\", \
         \"source_ref\": \"{nasty}\", \"version\": \"{nasty}\", \"reason\": \"{nasty}\", \"claim\": {{\"key\": \"{nasty}\", \
         \"value\": \"{nasty}\"}}}}, {{\"id\": \"b\", \"kind\": \"evidence\", \"content\": \"{nasty}\"}}, {{\"id\": \"c\", \
         \"kind\": \"memory\", \"content\": \"c\", \"claim\": {{\"key\": \"{nasty}\", \"value\": 1}}}}]}}"
    );
    for format in ["text", "json", "yaml"] {
        let ran = polyloop_with(["manifest", "-", "--show-content", "-f", format], request.as_bytes());
        assert_calm(ran.exits(0).text());
    }
}
