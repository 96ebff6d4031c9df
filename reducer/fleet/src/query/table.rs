//! A table of a snapshot for DataFusion: files that the log says cannot have a row are not opened.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Date32Array, StringArray, UInt64Array};
use arrow::datatypes::{DataType, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::pruning::PruningStatistics;
use datafusion::common::stats::Precision;
use datafusion::common::{Column, DFSchema, Result, ScalarValue, Statistics};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::CachedParquetFileReaderFactory;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_optimizer::pruning::PruningPredicateBuilder;
use datafusion::physical_plan::ExecutionPlan;

use crate::lake::data::day_number;
use crate::lake::record::DataFile;

/// Bytes at the end of a file that are read first. They have the footer of nearly every file, so that it takes one request.
const FOOTER_BYTES: usize = 64 << 10;

/// A table of a snapshot.
#[derive(Debug)]
pub(super) struct LakeTable {
    pub(super) schema: SchemaRef,
    /// Path in the store and description of each file.
    pub(super) files: Vec<(String, DataFile)>,
    pub(super) store: ObjectStoreUrl,
}

impl LakeTable {
    /// Returns which files may have a row for which a predicate holds.
    fn prune(&self, state: &dyn Session, filters: &[Expr]) -> Result<Vec<bool>> {
        let Some(filter) = conjunction(filters.to_vec()) else { return Ok(vec![true; self.files.len()]) };
        let schema = DFSchema::try_from(Arc::clone(&self.schema))?;
        let predicate = state.create_physical_expr(filter, &schema)?;
        let builder = PruningPredicateBuilder::new().with_file_schema(Arc::clone(&self.schema));
        match builder.build(predicate) {
            Some(predicate) => predicate.prune(self),
            None => Ok(vec![true; self.files.len()]),
        }
    }

    /// Returns the smallest or the largest values of a column by file.
    fn bounds(&self, column: &Column, of: impl Fn(&(String, String)) -> &String) -> Option<ArrayRef> {
        let kind = self.schema.field_with_name(&column.name).ok()?.data_type();
        let value = |file: &DataFile| file.stats.get(&column.name)?.values.as_ref().map(|values| of(values).clone());
        let values = self.files.iter().map(|(_, file)| value(file));
        match kind {
            DataType::Utf8 => Some(Arc::new(values.collect::<StringArray>())),
            DataType::Date32 => Some(Arc::new(values.map(|value| day_number(&value?)).collect::<Date32Array>())),
            _ => None,
        }
    }
}

impl PruningStatistics for LakeTable {
    fn min_values(&self, column: &Column) -> Option<ArrayRef> {
        self.bounds(column, |(min, _)| min)
    }

    fn max_values(&self, column: &Column) -> Option<ArrayRef> {
        self.bounds(column, |(_, max)| max)
    }

    fn num_containers(&self) -> usize {
        self.files.len()
    }

    fn null_counts(&self, column: &Column) -> Option<ArrayRef> {
        let counts = self.files.iter().map(|(_, file)| file.stats.get(&column.name).map(|range| range.nulls));
        Some(Arc::new(counts.collect::<UInt64Array>()))
    }

    fn row_counts(&self) -> Option<ArrayRef> {
        Some(Arc::new(self.files.iter().map(|(_, file)| Some(file.rows)).collect::<UInt64Array>()))
    }

    fn contained(&self, _column: &Column, _values: &HashSet<ScalarValue>) -> Option<BooleanArray> {
        None
    }
}

#[async_trait]
impl TableProvider for LakeTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let kept = self.prune(state, filters)?;
        let files: Vec<&(String, DataFile)> =
            self.files.iter().zip(kept).filter(|(_, is_kept)| *is_kept).map(|(file, _)| file).collect();
        tracing::debug!(kept = files.len(), all = self.files.len(), "files after pruning");
        let rows: u64 = files.iter().map(|(_, file)| file.rows).sum();
        let known = |rows: u64, bytes: u64| {
            let mut statistics = Statistics::new_unknown(&self.schema);
            statistics.num_rows = Precision::Exact(rows as usize);
            statistics.total_byte_size = Precision::Inexact(bytes as usize);
            statistics
        };
        let bytes: u64 = files.iter().map(|(_, file)| file.bytes).sum();
        let groups = state.config().target_partitions().clamp(1, files.len().max(1));
        let mut grouped: Vec<Vec<PartitionedFile>> = vec![Vec::new(); groups];
        for (number, (path, file)) in files.iter().enumerate() {
            let statistics = Arc::new(known(file.rows, file.bytes));
            grouped[number % groups].push(PartitionedFile::new(path.clone(), file.bytes).with_statistics(statistics));
        }
        // A file never changes, so its footer is read once for all questions.
        let runtime = state.runtime_env();
        let store = runtime.object_store(&self.store)?;
        let footers = runtime.cache_manager.get_file_metadata_cache();
        let readers = Arc::new(CachedParquetFileReaderFactory::new(store, footers));
        let mut source = ParquetSource::new(Arc::clone(&self.schema))
            .with_pushdown_filters(true)
            .with_metadata_size_hint(FOOTER_BYTES)
            .with_parquet_file_reader_factory(readers);
        if let Some(filter) = conjunction(filters.to_vec()) {
            let schema = DFSchema::try_from(Arc::clone(&self.schema))?;
            source = source.with_predicate(state.create_physical_expr(filter, &schema)?);
        }
        let config = FileScanConfigBuilder::new(self.store.clone(), Arc::new(source))
            .with_file_groups(grouped.into_iter().map(FileGroup::new).collect())
            .with_statistics(known(rows, bytes))
            .with_projection_indices(projection.cloned())?
            .with_limit(limit.filter(|_| filters.is_empty()))
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}
