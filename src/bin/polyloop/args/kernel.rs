//! The flags of `polyloop kernel`.

use clap::Args;

use super::Asked;

/// Run Python cells in which the context is a variable
#[derive(Args, Debug)]
pub struct Kernel {
    #[command(flatten)]
    pub asked: Asked,
}
