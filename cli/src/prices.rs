//! Reads the price table of `--prices`.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use trace_explain::prices::{MAX_TABLE_BYTES, Prices};

use crate::ui::failure::Failure;

/// Reads the price table at `path`. Without a path, there is none.
///
/// # Errors
///
/// Returns an error if the file cannot be read or is not a price table.
pub(crate) fn read(path: Option<&Path>) -> Result<Option<Prices>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let mut text = String::new();
    // Reading one byte more than the limit tells a table that is too large from one of exactly the largest size.
    let limit = MAX_TABLE_BYTES as u64 + 1;
    File::open(path)
        .and_then(|file| file.take(limit).read_to_string(&mut text))
        .map_err(|error| Failure::data(error).context(format!("cannot read the price table {}", path.display())))?;
    let prices = Prices::parse(&text).map_err(|error| {
        Failure::data(error)
            .context(format!("{} is not a price table", path.display()))
            .with_hint("samples/prices.toml, which comes with trace, shows how to write one")
    })?;
    Ok(Some(prices))
}
