//! `polyloop render` to the body of a provider's request.

use polyloop::Result;
use polyloop::context::Json;
use polyloop::provider::{Body, Loss, Shape, Source, accepted, check};
use polyloop::write::Report;

use super::render::usage;
use crate::args::Render;
use crate::io::note;

/// The body; nothing is written that a provider would refuse, or that lacks what its shape cannot say.
pub fn of<'c>(args: &'c Render, report: &'c Report<'_>, shape: Shape, source: Source<'c>) -> Result<Body<'c>> {
    let named = |error: polyloop::Error| error.with_source(report.source);
    let own = source.wire.filter(|wire| wire.shape == shape);
    let mut findings = check(report.context, shape, own);
    if args.params.iter().any(|(key, _)| key == "toolConfig") {
        findings.retain(|finding| finding.code != "provider.tools_missing");
    }
    if args.lossy && own.is_none() {
        // Written anew they become one, which is named as a loss.
        findings.retain(|finding| finding.code != "provider.alternation");
    }
    accepted(&findings, shape).map_err(named)?;
    let mut body = Body::of(report.context, shape, source);
    if !args.lossy {
        body.whole(shape).map_err(named)?;
    }
    let model = report.run.and_then(|run| run.model.as_deref());
    if let Some(model) = model.filter(|_| has_model(shape))
        && !body.has("model")
        && let Ok(model) = serde_json::to_string(model)
    {
        body.set("model", Json::read(&model).map_err(named)?);
    }
    for (key, value) in &args.params {
        if OF_CONTEXT.contains(&&**key) {
            return Err(usage(format!("--param {key}: this is what the context is written under"))
                .with_hint("--param sets what stands beside it, such as model or temperature"));
        }
        body.set(key, value.borrow());
    }
    Ok(body)
}

/// Keys of a body that hold the context: what is set in their place would be lost from it.
const OF_CONTEXT: [&str; 10] = [
    "messages",
    "contents",
    "input",
    "system",
    "instructions",
    "systemInstruction",
    "system_instruction",
    "tools",
    "functions",
    "toolConfig",
];

/// Whether the model is named in the body, and not where it is sent to.
fn has_model(shape: Shape) -> bool {
    matches!(shape, Shape::OpenAi | Shape::Responses | Shape::Anthropic)
}

/// Says what is lost, what comes over in another way, and what a provider needs beside it.
pub fn say_aside(name: &str, body: &Body<'_>, shape: Shape) {
    losses(name, body).iter().for_each(|words| note(words));
    for (key, shapes) in
        [("model", [Shape::OpenAi, Shape::Responses, Shape::Anthropic].as_slice()), ("max_tokens", &[Shape::Anthropic])]
    {
        if shapes.contains(&shape) && !body.has(key) {
            note(&format!("{name}: {shape} wants {key}: add it with --param {key}=..."));
        }
    }
}

/// What is lost and what comes over in another way.
pub fn losses(name: &str, body: &Body<'_>) -> Vec<String> {
    let words = |what: &str, Loss { path, what: words }: &Loss| {
        let path = path.as_ref().map(|path| format!("{path}: ")).unwrap_or_default();
        format!("{name}: {what}: {path}{words}")
    };
    let losses = body.losses.iter().map(|loss| words("lost", loss));
    losses.chain(body.changes.iter().map(|change| words("changed", change))).collect()
}
