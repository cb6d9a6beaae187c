//! Models: the wires they are reached by, the providers that serve them, and the mending of what
//! they emit.
