// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ExperimentalFeatureStage } from "./ExperimentalFeatureStage";

/**
 * A feature that can be switched on and off.
 */
export type ExperimentalFeature = {
/**
 * Whether it is on when nobody says anything.
 */
defaultEnabled: boolean,
/**
 * Whether it is on.
 */
enabled: boolean,
/**
 * The name.
 */
name: string,
/**
 * How ready it is.
 */
stage: ExperimentalFeatureStage,
/**
 * What users are told of the feature.
 */
announcement?: string | null,
/**
 * What it is, for people.
 */
description?: string | null,
/**
 * The name, for people.
 */
displayName?: string | null, };
