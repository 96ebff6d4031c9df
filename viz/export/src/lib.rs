//! Hands reduced sessions to the tools that people have already: Perfetto, Chrome traces, OpenTelemetry collectors.
