// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { NonSteerableTurnKind } from "./NonSteerableTurnKind";

/**
 * Kind of error that ended a turn or refused a request, for programs.
 */
export type CodexErrorInfo = "contextWindowExceeded" | "sessionBudgetExceeded" | "usageLimitExceeded" | "rateLimitExceeded" | "flexUnavailable" | "serverOverloaded" | "modelNotFound" | "policyCapacityUnavailable" | "cyberPolicy" | "misalignmentPolicyViolation" | "tooManyDenials" | "internalServerError" | "unauthorized" | "badRequest" | "threadRollbackFailed" | "sandboxError" | "other" | "inferenceHookDenied" | { "httpConnectionFailed": {
/**
 * HTTP status of the response, if there was one.
 */
httpStatusCode?: number | null, } } | { "responseStreamConnectionFailed": {
/**
 * HTTP status of the response, if there was one.
 */
httpStatusCode?: number | null, } } | { "responseStreamDisconnected": {
/**
 * HTTP status of the response, if there was one.
 */
httpStatusCode?: number | null, } } | { "responseTooManyFailedAttempts": {
/**
 * HTTP status of the response, if there was one.
 */
httpStatusCode?: number | null, } } | { "activeTurnNotSteerable": {
/**
 * Kind of the running turn.
 */
turnKind: NonSteerableTurnKind, } };
