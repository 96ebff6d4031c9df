// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How a turn can continue after the error `misalignmentPolicyViolation`.
 */
export type MisalignmentSteer = {
/**
 * The message for people.
 */
message: string, };
