//! What is said of those that are in and out: by whom, how large, and why.

use super::*;

#[test]
fn what_leaves_with_a_group_leaves_by_the_first_of_it() {
    gives(
        "as_of: 2026-08-11T12:00:00Z
fragments:
  - {id: c, kind: evidence, content: c, group: g, observed_at: 2026-08-11T11:00:00Z, ttl_s: 1}
  - {id: a, kind: evidence, content: a, group: g}
  - {id: b, kind: evidence, content: b, group: g, observed_at: 2026-08-11T11:00:00Z, ttl_s: 1}",
        &[],
        &["c stale", "a group b", "b stale"],
    );
}

#[test]
fn a_line_that_takes_all_the_space_is_kept() {
    for (keep, content) in [("head", "22\\n4444\\n"), ("tail", "4444\\n22\\n"), ("head_tail", "4444\\n22\\n")] {
        let yaml = |window: u64, min_chars: u64| {
            format!(
                "budget: {{window: {window}}}\nfragments: [{{id: a, kind: evidence, content: \"{content}\", trim: {{keep: {keep}, min_chars: {min_chars}}}}}]"
            )
        };
        assert_eq!(outcome(&yaml(3, 3)).0, ["a"], "{keep}");
        assert_eq!(outcome(&yaml(2, 1)).1, ["a over_budget"], "{keep}");
        assert_eq!(outcome(&yaml(3, 4)).1, ["a over_budget"], "{keep}");
    }
}

#[test]
fn what_is_out_is_counted_where_it_would_have_drawn() {
    let yaml = "budget: {window: 4}
fragments:
  - {id: a, kind: evidence, content: abcde}
  - {id: b, kind: memory, content: abcdef}
  - {id: c, kind: user_input, content: abc, group: g, required: true}
  - {id: d, kind: user_input, content: d, group: g}";
    let request = parse(yaml);
    let selection = chosen(&request);
    let holdings = selection.space.holdings.iter().map(|it| (it.used, it.left_out)).filter(|it| *it != (0, 0));
    assert_eq!(holdings.collect::<Vec<_>>(), [(0, 11), (4, 0)]);
}

#[test]
fn one_of_a_group_that_is_required_had_to_be_in() {
    let yaml = "fragments:
  - {id: c, kind: user_input, content: abc, group: g, required: true}
  - {id: d, kind: user_input, content: d, group: g}";
    let request = parse(yaml);
    let selection = chosen(&request);
    let manifest = selection.manifest();
    assert_eq!(
        manifest.entries.iter().map(|it| (it.id, it.required)).collect::<Vec<_>>(),
        [(Some("c"), true), (Some("d"), true)]
    );
}

#[test]
fn a_cap_is_named_first_whoever_stands_first() {
    let member = |id: &str, kind: &str| format!("  - {{id: {id}, kind: {kind}, content: {id}, group: g}}\n");
    let (capped, free) = (member("a", "evidence"), member("b", "user_input"));
    for fragments in [format!("{capped}{free}"), format!("{free}{capped}")] {
        let yaml = format!(
            "budget: {{window: 10, unit: tokens, responsibilities: {{retrieved_material: {{cap: 5}}}}}}\nfragments:\n{fragments}"
        );
        let (included, mut excluded) = outcome(&yaml);
        excluded.sort();
        assert_eq!((&included[..], &excluded[..]), (&[][..], &["a over_cap".to_owned(), "b group a".to_owned()][..]));
    }
}

#[test]
fn the_program_alone_speaks_as_system_or_developer() {
    for trust in ["runtime", "user", "workspace", "external"] {
        for role in ["system", "developer", "user", "assistant", "tool"] {
            let yaml = format!("fragments: [{{id: a, kind: policy, content: a, trust: {trust}, role: {role}}}]");
            let refused = crate::read::request(&yaml, Some(Format::Yaml)).err().map(|error| error.code());
            let is_refused = trust != "runtime" && ["system", "developer"].contains(&role);
            assert_eq!(refused, is_refused.then_some(crate::Code::FragmentRoleTrust), "{trust} {role}");
        }
    }
}
