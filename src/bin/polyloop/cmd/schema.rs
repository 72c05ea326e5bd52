//! `polyloop schema`

use crate::exit::Exit;
use crate::io::{to_stdout, write_json};

pub fn run() -> anyhow::Result<Exit> {
    let schema = polyloop::request::json_schema();
    to_stdout(|out| write_json(out, &schema, true))?;
    Ok(Exit::Done)
}
