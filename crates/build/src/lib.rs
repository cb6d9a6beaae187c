//! `gather(folder)`: used by build scripts to list a folder of one-thing files.
