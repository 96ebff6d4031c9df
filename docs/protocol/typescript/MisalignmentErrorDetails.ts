// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { MisalignmentSteer } from "./MisalignmentSteer";

/**
 * Details about a model that did something other than what it was asked.
 */
export type MisalignmentErrorDetails = {
/**
 * What happened.
 */
detailedExplanation?: string | null,
/**
 * Kind of the error.
 */
errorType?: string | null,
/**
 * What was reviewed.
 */
reviewTarget?: string | null,
/**
 * How the turn can continue.
 */
steer?: MisalignmentSteer | null, };
