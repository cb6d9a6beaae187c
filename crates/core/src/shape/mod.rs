//! What happens to a result between the tool and the model.
//!
//! - [`error_text`]: an error message that cannot be mistaken for the frame around it.
//! - [`cap`]: how large a result may be, and what stands in for one that is larger.
//! - [`untrusted`]: the mark on output whose author is not the user.
//!
//! The order on the road is cap, then mark: the mark goes around whatever is sent, so a
//! result that was spilled is marked whole and no block can be left open.

pub mod cap;
pub mod error_text;
mod framing;
mod kept;
mod page;
pub mod untrusted;
mod visible;
