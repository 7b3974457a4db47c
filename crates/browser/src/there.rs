//! Whether tests that need a browser can run: decided here for all of them.

use crate::pipe::{Error, find};
use std::io::Write;
use std::sync::Once;

/// Set this to `required` where a missing browser is a failure.
const VARIABLE: &str = "GRADBAND_BROWSER";

/// Is there a Chromium? If not, the tests that need one are left out, which is said on stderr once; with
/// `GRADBAND_BROWSER=required` this panics instead.
///
/// ```no_run
/// if !gradband_browser::is_there() {
///     return;
/// }
/// ```
pub fn is_there() -> bool {
    static SAID: Once = Once::new();
    let there = find().is_some();
    assert!(there || !is_required(), "{}, and {VARIABLE}=required", Error::Missing);
    if !there {
        // Past the test harness, which keeps what passing tests print to itself.
        SAID.call_once(|| {
            let _ = writeln!(std::io::stderr(), "LEFT OUT: tests in a browser; {}", Error::Missing);
        });
    }
    there
}

fn is_required() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| value == "required")
}
