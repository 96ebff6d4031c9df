//! The Delta tables of a lake: its log, told once more in the way that Spark, DuckDB, Polars and Trino read.
//!
//! Version N of each Delta table is commit N of the lake, so the contents of both follow from the same record, and writing
//! them again changes nothing. The tables are written in the order of [`tables::ALL`], so the sessions table gets a version
//! last: whoever reads the others at the version that the sessions table has sees whole commits only.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Fields, Schema};
use arrow::json::ReaderBuilder;
use parquet::arrow::ArrowWriter;
use serde_json::{Value, json};

use super::data::table_folder;
use super::record::{Action, Batch, Commit, DataFile};
use crate::tables::{self, Filled, Kind, Table};

/// Name under which commits are counted in the Delta log.
pub(super) const APP_ID: &str = "trace-fleet";

/// Returns the path of a version of a Delta table, relative to the lake.
pub(super) fn version_path(table: &str, version: u64) -> String {
    format!("{}/_delta_log/{version:020}.json", table_folder(table))
}

/// Returns the path of a checkpoint of a Delta table, relative to the lake.
pub(super) fn checkpoint_path(table: &str, version: u64) -> String {
    format!("{}/_delta_log/{version:020}.checkpoint.parquet", table_folder(table))
}

/// Returns the path of the object that names the last checkpoint.
pub(super) fn last_checkpoint_path(table: &str) -> String {
    format!("{}/_delta_log/_last_checkpoint", table_folder(table))
}

/// Returns the name of a type in Delta.
fn delta_type(kind: Kind) -> Value {
    match kind {
        Kind::Text => json!("string"),
        Kind::Integer => json!("long"),
        Kind::Real => json!("double"),
        Kind::Truth => json!("boolean"),
        Kind::Day => json!("date"),
        Kind::Time => json!("timestamp"),
        Kind::Integers => json!({"type": "array", "elementType": "long", "containsNull": true}),
    }
}

fn schema_text(table: &dyn Table) -> String {
    let fields: Vec<Value> = table
        .columns()
        .iter()
        .map(|column| {
            json!({"name": column.name, "type": delta_type(column.kind), "nullable": true, "metadata": {"comment": column.text}})
        })
        .collect();
    json!({"type": "struct", "fields": fields}).to_string()
}

fn protocol() -> Value {
    json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}})
}

/// Makes an id in the form of a UUID from the id of the lake and the table, so that it is the same each time.
fn table_id(lake: &str, table: &str) -> String {
    let hash = xxhash_rust::xxh3::xxh3_128(format!("{lake} {table}").as_bytes());
    let digits = format!("{hash:032x}");
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

fn metadata(lake: &str, created_at_unix_ms: i64, table: &dyn Table) -> Value {
    json!({"metaData": {
        "id": table_id(lake, table.name()),
        "name": table.name(),
        "description": table.text(),
        "format": {"provider": "parquet", "options": {}},
        "schemaString": schema_text(table),
        "partitionColumns": [],
        "createdTime": created_at_unix_ms,
        "configuration": {},
    }})
}

fn txn(version: u64, at_unix_ms: i64) -> Value {
    json!({"txn": {"appId": APP_ID, "version": version, "lastUpdated": at_unix_ms}})
}

fn stats(file: &DataFile) -> String {
    let mut min = serde_json::Map::new();
    let mut max = serde_json::Map::new();
    let mut nulls = serde_json::Map::new();
    for (column, range) in &file.stats {
        nulls.insert(column.clone(), range.nulls.into());
        if let Some((least, most)) = &range.values {
            min.insert(column.clone(), least.clone().into());
            max.insert(column.clone(), most.clone().into());
        }
    }
    json!({"numRecords": file.rows, "minValues": min, "maxValues": max, "nullCount": nulls}).to_string()
}

fn add(file: &DataFile, at_unix_ms: i64, is_change: bool) -> Value {
    json!({"add": {
        "path": file.path,
        "partitionValues": {},
        "size": file.bytes,
        "modificationTime": at_unix_ms,
        "dataChange": is_change,
        "stats": stats(file),
    }})
}

fn remove(file: &DataFile, at_unix_ms: i64, is_change: bool) -> Value {
    json!({"remove": {
        "path": file.path,
        "deletionTimestamp": at_unix_ms,
        "dataChange": is_change,
        "extendedFileMetadata": true,
        "partitionValues": {},
        "size": file.bytes,
    }})
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

/// Returns the text of a version of a Delta table. It depends on the commit alone.
pub(super) fn version(lake: &str, commit: &Commit, table: &'static dyn Filled) -> String {
    let name = table.name();
    let operation = match commit.action {
        Action::Create => "CREATE TABLE",
        Action::Ingest => "WRITE",
        Action::Compact => "OPTIMIZE",
        Action::Remove => "DELETE",
    };
    let mut actions = vec![json!({"commitInfo": {
        "timestamp": commit.at_unix_ms,
        "operation": operation,
        "operationParameters": {},
        "engineInfo": APP_ID,
        "lakeCommit": commit.id,
    }})];
    if commit.version == 0 {
        actions.push(protocol());
        actions.push(metadata(lake, commit.at_unix_ms, table));
    }
    actions.push(txn(commit.version, commit.at_unix_ms));
    let is_change = commit.action != Action::Compact;
    // A file that is removed and added again in one commit stays.
    let files = |batches: &'_ [Batch]| -> Vec<DataFile> {
        batches.iter().filter_map(|batch| batch.files.get(name).cloned()).collect()
    };
    let (added, removed) = (files(&commit.add), files(&commit.remove));
    let is_in = |files: &[DataFile], file: &DataFile| files.iter().any(|other| other.path == file.path);
    let gone = removed.iter().filter(|file| !is_in(&added, file));
    actions.extend(gone.map(|file| remove(file, commit.at_unix_ms, is_change)));
    let new = added.iter().filter(|file| !is_in(&removed, file));
    actions.extend(new.map(|file| add(file, commit.at_unix_ms, is_change)));
    lines(&actions)
}

/// Returns the content of a checkpoint of a Delta table, and the number of its actions.
pub(super) fn checkpoint<'f>(
    lake: &str,
    created_at_unix_ms: i64,
    version: u64,
    at_unix_ms: i64,
    table: &'static dyn Filled,
    files: impl Iterator<Item = &'f DataFile>,
) -> Result<(Vec<u8>, usize), arrow::error::ArrowError> {
    let mut actions = vec![protocol(), metadata(lake, created_at_unix_ms, table), txn(version, at_unix_ms)];
    actions.extend(files.map(|file| add(file, at_unix_ms, false)));
    let schema = Arc::new(checkpoint_schema());
    let mut decoder = ReaderBuilder::new(Arc::clone(&schema)).with_batch_size(actions.len()).build_decoder()?;
    decoder.decode(lines(&actions).as_bytes())?;
    let mut content = Vec::new();
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_compression(parquet::basic::Compression::ZSTD(parquet::basic::ZstdLevel::default()))
        .build();
    let mut writer = ArrowWriter::try_new(&mut content, schema, Some(properties))?;
    while let Some(rows) = decoder.flush()? {
        writer.write(&rows)?;
    }
    writer.close()?;
    Ok((content, actions.len()))
}

fn checkpoint_schema() -> Schema {
    let field = |name: &str, kind: DataType| Field::new(name, kind, true);
    let text = |name: &str| field(name, DataType::Utf8);
    let long = |name: &str| field(name, DataType::Int64);
    let truth = |name: &str| field(name, DataType::Boolean);
    let object = |name: &str, fields: Vec<Field>| field(name, DataType::Struct(Fields::from(fields)));
    let map = |name: &str| {
        let entries = Fields::from(vec![Field::new("key", DataType::Utf8, false), text("value")]);
        field(name, DataType::Map(Arc::new(Field::new("key_value", DataType::Struct(entries), false)), false))
    };
    let texts = |name: &str| field(name, DataType::List(Arc::new(text("element"))));
    Schema::new(vec![
        object("txn", vec![text("appId"), long("version"), long("lastUpdated")]),
        object(
            "add",
            vec![
                text("path"),
                map("partitionValues"),
                long("size"),
                long("modificationTime"),
                truth("dataChange"),
                text("stats"),
            ],
        ),
        object("remove", vec![text("path"), long("deletionTimestamp"), truth("dataChange")]),
        object(
            "metaData",
            vec![
                text("id"),
                text("name"),
                text("description"),
                object("format", vec![text("provider"), map("options")]),
                text("schemaString"),
                texts("partitionColumns"),
                long("createdTime"),
                map("configuration"),
            ],
        ),
        object(
            "protocol",
            vec![field("minReaderVersion", DataType::Int32), field("minWriterVersion", DataType::Int32)],
        ),
    ])
}

/// Returns the tables in the order in which a version of them becomes visible.
pub(super) fn order() -> impl Iterator<Item = &'static dyn Filled> {
    tables::ALL.iter().copied()
}
