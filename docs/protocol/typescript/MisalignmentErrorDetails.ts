// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { MisalignmentSteer } from "./MisalignmentSteer";

/**
 * What was found when a model did something other than it was asked.
 */
export type MisalignmentErrorDetails = {
/**
 * What happened.
 */
detailedExplanation?: string | null,
/**
 * What kind of thing was found.
 */
errorType?: string | null,
/**
 * What was looked at.
 */
reviewTarget?: string | null,
/**
 * How the turn can go on.
 */
steer?: MisalignmentSteer | null, };
