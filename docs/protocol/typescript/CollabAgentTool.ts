// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A tool for the collaboration of agents.
 */
export type CollabAgentTool = "spawnAgent" | "sendInput" | "resumeAgent" | "wait" | "closeAgent" | "sendMessage" | "followupTask" | "interruptAgent" | "listAgents";
