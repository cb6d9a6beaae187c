//! What is measured, shared by the two ways of measuring it: the criterion lines in `benches/` and
//! the `hermes-bench` binary.
//!
//! - [`subject`]: a runtime with trivial tools, so that what is measured is the road and not the tool
//! - [`crowd`]: as many tools as all toolsets name, for what grows with their number

pub mod crowd;
pub mod subject;
