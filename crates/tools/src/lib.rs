//! The built-in tools and toolsets.
