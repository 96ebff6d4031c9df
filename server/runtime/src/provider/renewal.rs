//! Another token for a question whose token was refused.

use super::{Provider, ProviderError, RetryDecision};

/// Allows a question, with all its attempts, one other token. A service that refuses a new token, too, refuses for another
/// reason.
#[derive(Debug, Default)]
pub(crate) struct Renewal {
    is_used: bool,
}

impl Renewal {
    /// Gets another token if that may help against this error, and returns whether to make another attempt. Such an attempt is
    /// no retry: it needs no pause, and users need not be told of it. If there is no other token, the error says why.
    pub(crate) async fn renew(&mut self, provider: &dyn Provider, error: &mut ProviderError) -> bool {
        let RetryDecision::OtherToken { refused } = error.retry else { return false };
        if std::mem::replace(&mut self.is_used, true) {
            return false;
        }
        match provider.renew_token(refused).await {
            Ok(()) => true,
            Err(problem) => {
                error.add_details(&format!("the token was not renewed: {problem}"));
                false
            }
        }
    }
}
