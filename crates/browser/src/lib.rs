//! Opens a report in a real browser and looks whether it works: test support.
