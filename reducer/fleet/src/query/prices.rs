//! Money: the cost of inference calls, from a price table that the user gives.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Builder};
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{Result, exec_datafusion_err};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use trace_explain::prices::Prices;
use trace_reducer::model::Usage;

/// The table that the view `costs` reads.
pub(super) const CALLS: &str = "inference_calls";

/// The view `costs`: inference calls with their money.
pub(super) const COSTS: &str = "SELECT *, money_of_call(model, CAST(CAST(started_at AS TIMESTAMP) AS BIGINT), input_tokens, cached_input_tokens, \
    cache_write_input_tokens, output_tokens) AS money FROM inference_calls";

/// Nanoseconds of a millisecond, the unit of a timestamp as an integer.
const NANOS_OF_MS: i64 = 1_000_000;

/// Name of the function that returns the cost of a call.
pub const MONEY: &str = "money_of_call";

/// The function that returns the cost of a call, or null without a price table, token counts or a fitting price.
#[derive(Debug)]
pub struct Money {
    prices: Option<Prices>,
    signature: Signature,
}

impl Money {
    /// Returns the SQL function `money_of_call` for a price table. Without one, it returns null.
    pub fn new(prices: Option<Prices>) -> Self {
        let integer = DataType::Int64;
        let arguments =
            vec![DataType::Utf8, integer.clone(), integer.clone(), integer.clone(), integer.clone(), integer];
        Self { prices, signature: Signature::exact(arguments, Volatility::Immutable) }
    }

    /// Returns the text of the price table.
    pub fn text(&self) -> Option<&str> {
        self.prices.as_ref().map(Prices::text)
    }
}

// Two functions are the same if they have the same table: the planner computes a repeated call once.
impl PartialEq for Money {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Money {}

impl Hash for Money {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text().hash(state);
    }
}

impl ScalarUDFImpl for Money {
    fn name(&self) -> &str {
        MONEY
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&arguments.args)?;
        let models = arrays[0].as_string_opt::<i32>().ok_or_else(|| exec_datafusion_err!("the model is no text"))?;
        let numbers: Vec<_> = arrays[1..]
            .iter()
            .map(|array| array.as_primitive_opt::<Int64Type>())
            .collect::<Option<_>>()
            .ok_or_else(|| exec_datafusion_err!("a number of tokens is no integer"))?;
        let mut out = Float64Builder::with_capacity(models.len());
        for row in 0..models.len() {
            let number = |index: usize| (!numbers[index].is_null(row)).then(|| numbers[index].value(row));
            let tokens = |index: usize| u64::try_from(number(index).unwrap_or(0)).unwrap_or(0);
            let cost = (!models.is_null(row)).then(|| {
                let usage = Usage {
                    input_tokens: u64::try_from(number(1)?).ok()?,
                    cached_input_tokens: tokens(2),
                    cache_write_input_tokens: tokens(3),
                    output_tokens: tokens(4),
                    reasoning_output_tokens: 0,
                };
                let at_unix_ms = number(0).unwrap_or(0).div_euclid(NANOS_OF_MS);
                self.prices.as_ref()?.of_model(models.value(row)).cost(at_unix_ms, &usage)
            });
            out.append_option(cost.flatten().map(trace_explain::prices::Money::to_f64));
        }
        Ok(ColumnarValue::Array(Arc::new(out.finish()) as ArrayRef))
    }
}
