// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ExperimentalFeatureStage } from "./ExperimentalFeatureStage";

/**
 * A feature that can be switched on and off.
 */
export type ExperimentalFeature = {
/**
 * Whether it is enabled by default.
 */
defaultEnabled: boolean,
/**
 * Whether it is enabled.
 */
enabled: boolean,
/**
 * Name of the feature.
 */
name: string,
/**
 * How mature it is.
 */
stage: ExperimentalFeatureStage,
/**
 * Announcement of the feature for users.
 */
announcement?: string | null,
/**
 * Description for people.
 */
description?: string | null,
/**
 * Display name.
 */
displayName?: string | null, };
