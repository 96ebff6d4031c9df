//! Tests the redaction of whole bundles: planted secrets are removed in every form, look-alikes stay, and laws hold.

mod bundles;
mod files;
mod laws;
mod layouts;
mod look_alikes;
mod noise;
mod planted;
mod situations;
mod wordy;
