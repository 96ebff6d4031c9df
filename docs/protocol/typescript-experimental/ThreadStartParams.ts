// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";
import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { DynamicToolSpec } from "./DynamicToolSpec";
import type { JsonValue } from "./JsonValue";
import type { MultiAgentMode } from "./MultiAgentMode";
import type { Personality } from "./Personality";
import type { SandboxMode } from "./SandboxMode";
import type { SelectedCapabilityRoot } from "./SelectedCapabilityRoot";
import type { ThreadHistoryMode } from "./ThreadHistoryMode";
import type { ThreadStartSource } from "./ThreadStartSource";
import type { TurnEnvironmentParams } from "./TurnEnvironmentParams";

/**
 * Params of `thread/start`.
 */
export type ThreadStartParams = {
/**
 * Whether the provider may fall back to another model.
 */
allowProviderModelFallback?: boolean | null,
/**
 * When the user is asked for approval.
 */
approvalPolicy?: AskForApproval | null,
/**
 * Who answers approval requests.
 */
approvalsReviewer?: ApprovalsReviewer | null,
/**
 * Base instructions for the model, which replace the default ones.
 */
baseInstructions?: string | null,
/**
 * Settings for this thread only, by dotted key.
 */
config?: { [key in string]: JsonValue } | null,
/**
 * The working directory.
 */
cwd?: string | null,
/**
 * Whether the user wants the provider's access program for defenders. The server only stores it for clients.
 */
daybreakEnabled?: boolean | null,
/**
 * Developer instructions for the model, in addition to the base instructions.
 */
developerInstructions?: string | null,
/**
 * Tools that the client runs for the model.
 */
dynamicTools?: Array<DynamicToolSpec> | null,
/**
 * Environments in which commands run.
 */
environments?: Array<TurnEnvironmentParams> | null,
/**
 * Whether the thread is never stored in a file.
 */
ephemeral?: boolean | null,
/**
 * Whether the client receives the raw events of the model.
 */
experimentalRawEvents?: boolean | null,
/**
 * How the history is stored.
 */
historyMode?: ThreadHistoryMode | null,
/**
 * Has no effect. Clients test the experimental capability with it.
 */
mockExperimentalField?: string | null,
/**
 * Name of the model.
 */
model?: string | null,
/**
 * Id of the model provider.
 */
modelProvider?: string | null,
/**
 * When the model may spawn agents.
 */
multiAgentMode?: MultiAgentMode | null,
/**
 * Id of the permission profile. It cannot be combined with a sandbox.
 */
permissions?: string | null,
/**
 * Personality of the model.
 */
personality?: Personality | null,
/**
 * Id of the project that it belongs to.
 */
projectId?: string | null,
/**
 * Directories that form the workspace.
 */
runtimeWorkspaceRoots?: Array<AbsolutePath> | null,
/**
 * Sandbox mode for commands of the model.
 */
sandbox?: SandboxMode | null,
/**
 * Directories with skills and plugins that the client selected.
 */
selectedCapabilityRoots?: Array<SelectedCapabilityRoot> | null,
/**
 * Name of the service that the client belongs to.
 */
serviceName?: string | null,
/**
 * Service tier of the model provider.
 */
serviceTier?: string | null,
/**
 * Why the client starts the thread.
 */
sessionStartSource?: ThreadStartSource | null,
/**
 * Purpose of the thread in the words of the client.
 */
threadSource?: string | null, };
