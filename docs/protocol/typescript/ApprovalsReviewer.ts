// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Who answers approval requests.
 */
export type ApprovalsReviewer = "user" | "auto_review" | "guardian_subagent";
