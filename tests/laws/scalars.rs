//! Block scalars with lines that hold white space alone, which is content from the indentation on.

use polyloop::read::Format;

use crate::whole;

#[test]
fn white_space_beyond_the_indentation_is_content() {
    for (scalar, content) in [
        ("|\n    a\n    \t\n", "a\n\t\n"),
        ("|-\n    a\n    \t\n", "a\n\t"),
        ("|\n    a\n    \t\n    b\n", "a\n\t\nb\n"),
        ("|2-\n    \t\n    a\n", "\t\na"),
        ("|2\n      \t\n    a\n", "  \t\na\n"),
        ("|+\n    a\n     \n\n", "a\n \n\n"),
        ("|\n\n   \n    a\n", "\n\na\n"),
        (">\n    a\n    \t\n    b\n", "a\n\t\nb\n"),
    ] {
        let wanted = serde_json::json!(content);
        let wanted = format!("{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":{wanted}}}]}}\n");
        // On its own, behind another block scalar and before one.
        for (before, after) in [
            ("", ""),
            ("  metadata:\n    x: |-\n      x\n", ""),
            ("", "  metadata:\n    x: |2-\n      \t\n      x\n"),
            ("  metadata:\n    x: |-\n      x\n    y: |2-\n      \t\n      x\n", ""),
        ] {
            let document = format!("goal:\n- role: user\n{before}  content: {scalar}{after}");
            // The scalars above are indented as the value of a key at two columns.
            assert_eq!(whole(&document, Format::Yaml), wanted, "{document}");
        }
    }
}

/// The parser ends the block there and takes the rest for a comment, which would lose it.
#[test]
fn a_tab_line_that_would_lose_text_is_refused() {
    let document = "goal:\n- role: user\n  content: |\n    # Title\n\t\n    ## Section\nmetadata: {}\n";
    let error = polyloop::read::request(document, Some(Format::Yaml)).expect_err("text would be lost");
    assert_eq!(error.position().map(|position| position.line), Some(5));
}
