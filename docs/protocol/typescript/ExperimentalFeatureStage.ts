// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How mature a feature is.
 */
export type ExperimentalFeatureStage = "beta" | "underDevelopment" | "stable" | "deprecated" | "removed";
