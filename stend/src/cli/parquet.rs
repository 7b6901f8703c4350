//! Knows how the table of an export becomes a Parquet file, in builds with the feature `parquet`.

use super::error::CliError;
use super::export::Table;

/// Without the feature: what to do about it.
///
/// # Errors
/// Always.
#[cfg(not(feature = "parquet"))]
pub fn bytes(_: &Table) -> Result<Vec<u8>, CliError> {
    let what = "this stend was built without it; build with --features parquet, or export csv";
    Err(CliError::Parquet(what.into()))
}

#[cfg(feature = "parquet")]
pub use with::bytes;

#[cfg(feature = "parquet")]
mod with {
    use super::{CliError, Table};
    use crate::cli::export::Cell;
    use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
    use parquet::errors::ParquetError;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::types::Type;
    use std::sync::Arc;

    /// One row group, a column a heading; numbers are doubles, words strings, gaps null.
    ///
    /// # Errors
    /// In the words of the library.
    pub fn bytes(table: &Table) -> Result<Vec<u8>, CliError> {
        write(table).map_err(|e| CliError::Parquet(e.to_string()))
    }

    fn numeric(table: &Table, name: &str) -> bool {
        table.rows.iter().filter_map(|row| row.get(name)).all(|c| matches!(c, Cell::Number(_)))
    }

    fn write(table: &Table) -> Result<Vec<u8>, ParquetError> {
        let fields: Result<Vec<_>, _> = table
            .columns
            .iter()
            .map(|name| {
                let number = numeric(table, name);
                let kind = if number { Physical::DOUBLE } else { Physical::BYTE_ARRAY };
                Type::primitive_type_builder(name, kind)
                    .with_repetition(Repetition::OPTIONAL)
                    .with_logical_type((!number).then_some(LogicalType::String))
                    .build()
                    .map(Arc::new)
            })
            .collect();
        let schema = Type::group_type_builder("trial").with_fields(fields?).build()?;
        let packed = Compression::ZSTD(ZstdLevel::default());
        let properties = WriterProperties::builder().set_compression(packed).build();
        let mut file =
            SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
        let mut group = file.next_row_group()?;
        for name in &table.columns {
            let Some(mut column) = group.next_column()? else { break };
            let cells = || table.rows.iter().map(|row| row.get(name));
            let there: Vec<i16> = cells().map(|c| i16::from(c.is_some())).collect();
            if numeric(table, name) {
                let number = |c: &Cell| if let Cell::Number(n) = c { *n } else { f64::NAN };
                let values: Vec<f64> = cells().flatten().map(number).collect();
                column.typed::<DoubleType>().write_batch(&values, Some(&there), None)?;
            } else {
                let values: Vec<ByteArray> = cells().flatten().map(words).collect();
                column.typed::<ByteArrayType>().write_batch(&values, Some(&there), None)?;
            }
            column.close()?;
        }
        group.close()?;
        file.into_inner()
    }

    fn words(cell: &Cell) -> ByteArray {
        match cell {
            Cell::Number(number) => number.to_string().as_str().into(),
            Cell::Text(text) => text.as_str().into(),
        }
    }
}
