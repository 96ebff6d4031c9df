// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A tool by which agents work together.
 */
export type CollabAgentTool = "spawnAgent" | "sendInput" | "resumeAgent" | "wait" | "closeAgent" | "sendMessage" | "followupTask" | "interruptAgent" | "listAgents";
