"""Types of the app-server protocol. Made by `generate.py` from the JSON Schema of `trace schema`. Changes here are lost."""

from typing import Any, Literal, NotRequired, TypedDict, Union

AbsolutePath = str
"""An absolute path.

Decoding refuses a relative path, so that no handler has to check it."""

class AccountApiKey(TypedDict):
    """An API key."""
    type: Literal['apiKey']

class AccountChatgpt(TypedDict):
    """A ChatGPT account."""
    type: Literal['chatgpt']
    email: NotRequired[Union[str, None]]
    """Email address of the user."""
    planType: 'PlanType'
    """The kind of subscription."""
    workspaceName: NotRequired[Union[str, None]]
    """Name of the workspace."""

class AccountAmazonBedrock(TypedDict):
    """Credentials of Amazon Bedrock."""
    type: Literal['amazonBedrock']
    usesCodexManagedCredentials: NotRequired[bool]
    """Whether the program manages the credentials."""

class AccountGcp(TypedDict):
    """Credentials of Google Cloud."""
    type: Literal['gcp']

Account = Union["AccountApiKey", "AccountChatgpt", "AccountAmazonBedrock", "AccountGcp"]
"""An account with a model provider."""

class AccountLoginCompletedNotification(TypedDict):
    """Params of the notification `account/login/completed`."""
    loginId: NotRequired[Union[str, None]]
    """Id of a login that took several steps."""
    success: bool
    """Whether the login succeeded."""
    error: NotRequired[Union[str, None]]
    """Why it failed."""
    onboardingEntrypoint: 'NotRequired[Union[DesktopOnboardingEntrypoint, None]]'
    """What brought the user to the login."""

class AccountRateLimitsUpdatedNotification(TypedDict):
    """Params of the notification `account/rateLimits/updated`."""
    rateLimits: 'RateLimitSnapshot'
    """The limits."""

class AccountUpdatedNotification(TypedDict):
    """Params of the notification `account/updated`."""
    authMode: 'NotRequired[Union[AuthMode, None]]'
    """How the client is known to its provider. `None` after a logout."""
    planType: 'NotRequired[Union[PlanType, None]]'
    """The subscription, if the client has named one."""

class AdditionalFileSystemPermissions(TypedDict):
    """Permissions for files beyond the sandbox of a command."""
    entries: 'NotRequired[Union[list[FileSystemSandboxEntry], None]]'
    """Access modes of paths."""
    globScanMaxDepth: NotRequired[Union[int, None]]
    """Greatest depth to which a glob pattern is searched."""
    read: NotRequired[Union[list[str], None]]
    """Paths that may be read."""
    write: NotRequired[Union[list[str], None]]
    """Paths that may be written."""

class AdditionalNetworkPermissions(TypedDict):
    """Permissions for the network beyond the sandbox of a command."""
    enabled: NotRequired[Union[bool, None]]
    """Whether the network may be used."""

AgentMessageDelivery = Literal['async']
"""While the turn continues."""

class AgentMessageDeltaNotification(TypedDict):
    """Params of the notification `item/agentMessage/delta`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""
    itemId: str
    """Id of the item."""
    delta: str
    """Text to append."""

class AgentMessageDisplay(TypedDict):
    """How a moderated message is displayed."""
    action: str
    """What is done with the message."""
    blockType: NotRequired[Union[str, None]]
    """Why the message was blocked."""
    checkTrustedContacts: NotRequired[Union[bool, None]]
    """Whether the client offers the user's trusted contacts."""
    cyberTrustedAccess: NotRequired[Union[bool, None]]
    """Whether the client offers to apply for trusted access."""

class AgentMessageItem(TypedDict):
    """A message of the model."""
    id: str
    """Id of the item."""
    text: str
    """The text."""
    startedAtMs: NotRequired[Union[int, None]]
    """Start time in Unix milliseconds."""
    completedAtMs: NotRequired[Union[int, None]]
    """End time in Unix milliseconds."""
    delivery: 'NotRequired[Union[AgentMessageDelivery, None]]'
    """How it reaches the user if it is not the answer of the turn."""
    memoryCitation: 'NotRequired[Union[MemoryCitation, None]]'
    """Memories that the message cites."""
    moderation: 'NotRequired[Union[AgentMessageModeration, None]]'
    """The decision of the moderation."""
    phase: 'NotRequired[Union[MessagePhase, None]]'
    """Role of the message within its turn."""
    questions: 'NotRequired[Union[list[AsyncUserInputQuestion], None]]'
    """The questions."""

class AgentMessageModeration(TypedDict):
    """Decision of the moderation about a message."""
    moderated: bool
    """Whether the message was moderated."""
    display: 'NotRequired[Union[AgentMessageDisplay, None]]'
    """Appearance."""

class ApplyPatchApprovalParams(TypedDict):
    """Params of the request to the client `applyPatchApproval`."""
    callId: str
    """Id of the tool call that the model chose."""
    conversationId: str
    """Id of the thread."""
    fileChanges: 'dict[str, FileChange]'
    """The changes, by path."""
    grantRoot: NotRequired[Union[str, None]]
    """A directory that the model wants to write to from now on."""
    reason: NotRequired[Union[str, None]]
    """Why the patch needs an approval."""

class ApplyPatchApprovalResponse(TypedDict):
    """Response to `applyPatchApproval`."""
    decision: 'ReviewDecision'
    """The decision."""

ApprovalsReviewer = Union[Literal['user'], Literal['auto_review'], Literal['guardian_subagent']]
"""Who answers approval requests."""

class AskForApproval4Granular(TypedDict):
    mcp_elicitations: bool
    """Whether the user is asked for the input that MCP servers request."""
    rules: bool
    """Whether the user is asked when a rule requires it."""
    sandbox_approval: bool
    """Whether the user is asked when a command fails because of the sandbox."""
    request_permissions: NotRequired[bool]
    """Whether the user is asked when the model requests permissions."""
    skill_approval: NotRequired[bool]
    """Whether the user is asked before a skill runs."""

class AskForApproval4(TypedDict):
    """Depending on the kind of question. A kind whose flag is false is refused without asking."""
    granular: 'AskForApproval4Granular'

AskForApproval = Union[Literal['untrusted'], Literal['on-request'], Literal['never'], "AskForApproval4"]
"""When the user is asked for approval before a command runs or a file changes."""

class AsyncUserInputQuestion(TypedDict):
    """A question to the user for which the turn does not wait."""
    title: str
    """The title."""
    options: NotRequired[Union[list[str], None]]
    """Answers to choose from."""

AttestationGenerateParams = dict[str, Any]
"""Params of the request to the client `attestation/generate`."""

class AttestationGenerateResponse(TypedDict):
    """Response to `attestation/generate`."""
    token: str
    """The attestation."""

AuthMode = Union[Literal['apikey'], Literal['chatgpt'], Literal['chatgptAuthTokens'], Literal['headers'], Literal['agentIdentity'], Literal['personalAccessToken'], Literal['bedrockApiKey'], Literal['bedrockAccessKeys']]
"""How a client, or the server for it, proves to a provider who it is."""

class ByteRange(TypedDict):
    """A range of bytes in a text, from `start` (inclusive) to `end` (exclusive)."""
    end: int
    """End of the range."""
    start: int
    """Start of the range."""

class ChatgptAuthTokensRefreshParams(TypedDict):
    """Params of the request to the client `account/chatgptAuthTokens/refresh`."""
    reason: 'ChatgptAuthTokensRefreshReason'
    """Why the tokens have to be refreshed."""
    previousAccountId: NotRequired[Union[str, None]]
    """The account that was used before."""

ChatgptAuthTokensRefreshReason = Literal['unauthorized']
"""The credentials were refused."""

class ChatgptAuthTokensRefreshResponse(TypedDict):
    """Response to `account/chatgptAuthTokens/refresh`."""
    accessToken: str
    """The new token."""
    chatgptAccountId: str
    """The id of the account."""
    chatgptPlanType: NotRequired[Union[str, None]]
    """The kind of subscription."""

class ClientInfo(TypedDict):
    """Name and version of a client."""
    name: str
    """Name of the client."""
    version: str
    """Version of the client."""
    title: NotRequired[Union[str, None]]
    """Display name."""

class ClientNotification(TypedDict):
    method: Literal['initialized']

class ClientRequestInitialize(TypedDict):
    id: 'RequestId'
    method: Literal['initialize']
    params: 'InitializeParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestThreadStart(TypedDict):
    id: 'RequestId'
    method: Literal['thread/start']
    params: 'ThreadStartParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestThreadResume(TypedDict):
    id: 'RequestId'
    method: Literal['thread/resume']
    params: 'ThreadResumeParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestThreadFork(TypedDict):
    id: 'RequestId'
    method: Literal['thread/fork']
    params: 'ThreadForkParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestThreadArchive(TypedDict):
    id: 'RequestId'
    method: Literal['thread/archive']
    params: 'ThreadArchiveParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestThreadDelete(TypedDict):
    id: 'RequestId'
    method: Literal['thread/delete']
    params: 'ThreadDeleteParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestThreadUnsubscribe(TypedDict):
    id: 'RequestId'
    method: Literal['thread/unsubscribe']
    params: 'ThreadUnsubscribeParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestThreadNameSet(TypedDict):
    id: 'RequestId'
    method: Literal['thread/name/set']
    params: 'ThreadSetNameParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestThreadMetadataUpdate(TypedDict):
    id: 'RequestId'
    method: Literal['thread/metadata/update']
    params: 'ThreadMetadataUpdateParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestThreadUnarchive(TypedDict):
    id: 'RequestId'
    method: Literal['thread/unarchive']
    params: 'ThreadUnarchiveParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestThreadCompactStart(TypedDict):
    id: 'RequestId'
    method: Literal['thread/compact/start']
    params: 'ThreadCompactStartParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestThreadShellCommand(TypedDict):
    id: 'RequestId'
    method: Literal['thread/shellCommand']
    params: 'ThreadShellCommandParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestThreadRevert(TypedDict):
    id: 'RequestId'
    method: Literal['thread/revert']
    params: 'ThreadRevertParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestThreadList(TypedDict):
    id: 'RequestId'
    method: Literal['thread/list']
    params: 'ThreadListParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestThreadLoadedList(TypedDict):
    id: 'RequestId'
    method: Literal['thread/loaded/list']
    params: 'ThreadLoadedListParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestThreadRead(TypedDict):
    id: 'RequestId'
    method: Literal['thread/read']
    params: 'ThreadReadParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestThreadInjectItems(TypedDict):
    id: 'RequestId'
    method: Literal['thread/inject_items']
    params: 'ThreadInjectItemsParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestThreadTurnsList(TypedDict):
    id: 'RequestId'
    method: Literal['thread/turns/list']
    params: 'ThreadTurnsListParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestThreadItemsList(TypedDict):
    id: 'RequestId'
    method: Literal['thread/items/list']
    params: 'ThreadItemsListParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestThreadGoalSet(TypedDict):
    id: 'RequestId'
    method: Literal['thread/goal/set']
    params: 'ThreadGoalSetParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestThreadGoalGet(TypedDict):
    id: 'RequestId'
    method: Literal['thread/goal/get']
    params: 'ThreadGoalGetParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestThreadGoalClear(TypedDict):
    id: 'RequestId'
    method: Literal['thread/goal/clear']
    params: 'ThreadGoalClearParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestTurnStart(TypedDict):
    id: 'RequestId'
    method: Literal['turn/start']
    params: 'TurnStartParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestTurnSteer(TypedDict):
    id: 'RequestId'
    method: Literal['turn/steer']
    params: 'TurnSteerParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestTurnInterrupt(TypedDict):
    id: 'RequestId'
    method: Literal['turn/interrupt']
    params: 'TurnInterruptParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestReviewStart(TypedDict):
    id: 'RequestId'
    method: Literal['review/start']
    params: 'ReviewStartParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestSkillsList(TypedDict):
    id: 'RequestId'
    method: Literal['skills/list']
    params: 'SkillsListParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestHooksList(TypedDict):
    id: 'RequestId'
    method: Literal['hooks/list']
    params: 'HooksListParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestPluginInstalled(TypedDict):
    id: 'RequestId'
    method: Literal['plugin/installed']
    params: 'PluginInstalledParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestModelList(TypedDict):
    id: 'RequestId'
    method: Literal['model/list']
    params: 'ModelListParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestModelProviderList(TypedDict):
    id: 'RequestId'
    method: Literal['modelProvider/list']
    params: 'ModelProviderListParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestModelProviderCapabilitiesRead(TypedDict):
    id: 'RequestId'
    method: Literal['modelProvider/capabilities/read']
    params: 'ModelProviderCapabilitiesReadParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestExperimentalFeatureList(TypedDict):
    id: 'RequestId'
    method: Literal['experimentalFeature/list']
    params: 'ExperimentalFeatureListParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestPermissionProfileList(TypedDict):
    id: 'RequestId'
    method: Literal['permissionProfile/list']
    params: 'PermissionProfileListParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestMcpServerStatusList(TypedDict):
    id: 'RequestId'
    method: Literal['mcpServerStatus/list']
    params: 'ListMcpServerStatusParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestMcpServerOauthLogin(TypedDict):
    id: 'RequestId'
    method: Literal['mcpServer/oauth/login']
    params: 'McpServerOauthLoginParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestConfigMcpServerReload(TypedDict):
    id: 'RequestId'
    method: Literal['config/mcpServer/reload']
    trace: 'NotRequired[TraceContext]'

class ClientRequestMcpServerToolCall(TypedDict):
    id: 'RequestId'
    method: Literal['mcpServer/tool/call']
    params: 'McpServerToolCallParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestMcpServerResourceRead(TypedDict):
    id: 'RequestId'
    method: Literal['mcpServer/resource/read']
    params: 'McpResourceReadParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestConfigRead(TypedDict):
    id: 'RequestId'
    method: Literal['config/read']
    params: 'ConfigReadParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestConfigValueWrite(TypedDict):
    id: 'RequestId'
    method: Literal['config/value/write']
    params: 'ConfigValueWriteParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestConfigBatchWrite(TypedDict):
    id: 'RequestId'
    method: Literal['config/batchWrite']
    params: 'ConfigBatchWriteParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestConfigRequirementsRead(TypedDict):
    id: 'RequestId'
    method: Literal['configRequirements/read']
    trace: 'NotRequired[TraceContext]'

class ClientRequestAccountRead(TypedDict):
    id: 'RequestId'
    method: Literal['account/read']
    params: 'GetAccountParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestAccountLoginStart(TypedDict):
    id: 'RequestId'
    method: Literal['account/login/start']
    params: 'LoginAccountParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestAccountLogout(TypedDict):
    id: 'RequestId'
    method: Literal['account/logout']
    trace: 'NotRequired[TraceContext]'

class ClientRequestFsReadFile(TypedDict):
    id: 'RequestId'
    method: Literal['fs/readFile']
    params: 'FsReadFileParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestFsWriteFile(TypedDict):
    id: 'RequestId'
    method: Literal['fs/writeFile']
    params: 'FsWriteFileParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestFsCreateDirectory(TypedDict):
    id: 'RequestId'
    method: Literal['fs/createDirectory']
    params: 'FsCreateDirectoryParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestFsGetMetadata(TypedDict):
    id: 'RequestId'
    method: Literal['fs/getMetadata']
    params: 'FsGetMetadataParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestFsReadDirectory(TypedDict):
    id: 'RequestId'
    method: Literal['fs/readDirectory']
    params: 'FsReadDirectoryParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestFsRemove(TypedDict):
    id: 'RequestId'
    method: Literal['fs/remove']
    params: 'FsRemoveParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestFsCopy(TypedDict):
    id: 'RequestId'
    method: Literal['fs/copy']
    params: 'FsCopyParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestFsWatch(TypedDict):
    id: 'RequestId'
    method: Literal['fs/watch']
    params: 'FsWatchParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestFsUnwatch(TypedDict):
    id: 'RequestId'
    method: Literal['fs/unwatch']
    params: 'FsUnwatchParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestCommandExec(TypedDict):
    id: 'RequestId'
    method: Literal['command/exec']
    params: 'CommandExecParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestCommandExecWrite(TypedDict):
    id: 'RequestId'
    method: Literal['command/exec/write']
    params: 'CommandExecWriteParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestCommandExecTerminate(TypedDict):
    id: 'RequestId'
    method: Literal['command/exec/terminate']
    params: 'CommandExecTerminateParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestCommandExecResize(TypedDict):
    id: 'RequestId'
    method: Literal['command/exec/resize']
    params: 'CommandExecResizeParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestFuzzyFileSearch(TypedDict):
    id: 'RequestId'
    method: Literal['fuzzyFileSearch']
    params: 'FuzzyFileSearchParams'
    trace: 'NotRequired[TraceContext]'

class ClientRequestThreadRollback(TypedDict):
    id: 'RequestId'
    method: Literal['thread/rollback']
    params: 'ThreadRollbackParams'
    trace: 'NotRequired[TraceContext]'

ClientRequest = Union["ClientRequestInitialize", "ClientRequestThreadStart", "ClientRequestThreadResume", "ClientRequestThreadFork", "ClientRequestThreadArchive", "ClientRequestThreadDelete", "ClientRequestThreadUnsubscribe", "ClientRequestThreadNameSet", "ClientRequestThreadMetadataUpdate", "ClientRequestThreadUnarchive", "ClientRequestThreadCompactStart", "ClientRequestThreadShellCommand", "ClientRequestThreadRevert", "ClientRequestThreadList", "ClientRequestThreadLoadedList", "ClientRequestThreadRead", "ClientRequestThreadInjectItems", "ClientRequestThreadTurnsList", "ClientRequestThreadItemsList", "ClientRequestThreadGoalSet", "ClientRequestThreadGoalGet", "ClientRequestThreadGoalClear", "ClientRequestTurnStart", "ClientRequestTurnSteer", "ClientRequestTurnInterrupt", "ClientRequestReviewStart", "ClientRequestSkillsList", "ClientRequestHooksList", "ClientRequestPluginInstalled", "ClientRequestModelList", "ClientRequestModelProviderList", "ClientRequestModelProviderCapabilitiesRead", "ClientRequestExperimentalFeatureList", "ClientRequestPermissionProfileList", "ClientRequestMcpServerStatusList", "ClientRequestMcpServerOauthLogin", "ClientRequestConfigMcpServerReload", "ClientRequestMcpServerToolCall", "ClientRequestMcpServerResourceRead", "ClientRequestConfigRead", "ClientRequestConfigValueWrite", "ClientRequestConfigBatchWrite", "ClientRequestConfigRequirementsRead", "ClientRequestAccountRead", "ClientRequestAccountLoginStart", "ClientRequestAccountLogout", "ClientRequestFsReadFile", "ClientRequestFsWriteFile", "ClientRequestFsCreateDirectory", "ClientRequestFsGetMetadata", "ClientRequestFsReadDirectory", "ClientRequestFsRemove", "ClientRequestFsCopy", "ClientRequestFsWatch", "ClientRequestFsUnwatch", "ClientRequestCommandExec", "ClientRequestCommandExecWrite", "ClientRequestCommandExecTerminate", "ClientRequestCommandExecResize", "ClientRequestFuzzyFileSearch", "ClientRequestThreadRollback"]

class CodexErrorInfo19HttpConnectionFailed(TypedDict):
    httpStatusCode: NotRequired[Union[int, None]]
    """HTTP status of the response, if there was one."""

class CodexErrorInfo19(TypedDict):
    """The model provider could not be reached."""
    httpConnectionFailed: 'CodexErrorInfo19HttpConnectionFailed'

class CodexErrorInfo20ResponseStreamConnectionFailed(TypedDict):
    httpStatusCode: NotRequired[Union[int, None]]
    """HTTP status of the response, if there was one."""

class CodexErrorInfo20(TypedDict):
    """The connection for the response stream failed."""
    responseStreamConnectionFailed: 'CodexErrorInfo20ResponseStreamConnectionFailed'

class CodexErrorInfo21ResponseStreamDisconnected(TypedDict):
    httpStatusCode: NotRequired[Union[int, None]]
    """HTTP status of the response, if there was one."""

class CodexErrorInfo21(TypedDict):
    """The response stream was interrupted."""
    responseStreamDisconnected: 'CodexErrorInfo21ResponseStreamDisconnected'

class CodexErrorInfo22ResponseTooManyFailedAttempts(TypedDict):
    httpStatusCode: NotRequired[Union[int, None]]
    """HTTP status of the response, if there was one."""

class CodexErrorInfo22(TypedDict):
    """All attempts failed."""
    responseTooManyFailedAttempts: 'CodexErrorInfo22ResponseTooManyFailedAttempts'

class CodexErrorInfo23ActiveTurnNotSteerable(TypedDict):
    turnKind: 'NonSteerableTurnKind'
    """Kind of the running turn."""

class CodexErrorInfo23(TypedDict):
    """The running turn does not accept input."""
    activeTurnNotSteerable: 'CodexErrorInfo23ActiveTurnNotSteerable'

CodexErrorInfo = Union[Literal['contextWindowExceeded'], Literal['sessionBudgetExceeded'], Literal['usageLimitExceeded'], Literal['rateLimitExceeded'], Literal['flexUnavailable'], Literal['serverOverloaded'], Literal['modelNotFound'], Literal['policyCapacityUnavailable'], Literal['cyberPolicy'], Literal['misalignmentPolicyViolation'], Literal['tooManyDenials'], Literal['internalServerError'], Literal['unauthorized'], Literal['badRequest'], Literal['threadRollbackFailed'], Literal['sandboxError'], Literal['other'], Literal['inferenceHookDenied'], "CodexErrorInfo19", "CodexErrorInfo20", "CodexErrorInfo21", "CodexErrorInfo22", "CodexErrorInfo23"]
"""Kind of error that ended a turn or refused a request, for programs."""

class CollabAgentState(TypedDict):
    """State of another agent."""
    status: 'CollabAgentStatus'
    """The status."""
    message: NotRequired[Union[str, None]]
    """The message for people."""

CollabAgentStatus = Union[Literal['pendingInit'], Literal['running'], Literal['interrupted'], Literal['completed'], Literal['errored'], Literal['shutdown'], Literal['notFound']]
"""Status of another agent."""

CollabAgentTool = Union[Literal['spawnAgent'], Literal['sendInput'], Literal['resumeAgent'], Literal['wait'], Literal['closeAgent'], Literal['sendMessage'], Literal['followupTask'], Literal['interruptAgent'], Literal['listAgents']]
"""A tool for the collaboration of agents."""

class CollabAgentToolCallItem(TypedDict):
    """A call of a tool for the collaboration of agents."""
    id: str
    """Id of the item."""
    agentsStates: 'dict[str, CollabAgentState]'
    """States of the agents that the call is about, by thread id."""
    receiverThreadIds: list[str]
    """Ids of the threads that the call is directed to."""
    senderThreadId: str
    """Id of the thread that made the call."""
    status: 'CollabAgentToolCallStatus'
    """The status."""
    tool: 'CollabAgentTool'
    """The tool."""
    startedAtMs: NotRequired[Union[int, None]]
    """Start time in Unix milliseconds."""
    completedAtMs: NotRequired[Union[int, None]]
    """End time in Unix milliseconds."""
    model: NotRequired[Union[str, None]]
    """Name of the model."""
    prompt: NotRequired[Union[str, None]]
    """Prompt for the agent."""
    reasoningEffort: NotRequired[Union[str, None]]
    """Reasoning effort of the model."""

CollabAgentToolCallStatus = Union[Literal['inProgress'], Literal['completed'], Literal['failed'], Literal['interrupted']]
"""Status of a call of a collaboration tool."""

class CollaborationMode(TypedDict):
    """A collaboration mode with its settings."""
    mode: 'ModeKind'
    """The mode."""
    settings: 'Settings'
    """Settings of the mode."""

class CommandActionRead(TypedDict):
    """Reads a file."""
    type: Literal['read']
    command: str
    """The command as a shell command line."""
    name: str
    """Name of the file."""
    path: str
    """Path of the file."""

class CommandActionListFiles(TypedDict):
    """Lists files."""
    type: Literal['listFiles']
    command: str
    """The command as a shell command line."""
    path: NotRequired[Union[str, None]]
    """Path of the directory, if the command names one."""

class CommandActionSearch(TypedDict):
    """Searches in files."""
    type: Literal['search']
    command: str
    """The command as a shell command line."""
    path: NotRequired[Union[str, None]]
    """Path of the file or directory, if the command names one."""
    query: NotRequired[Union[str, None]]
    """The searched text."""

class CommandActionUnknown(TypedDict):
    """Something else."""
    type: Literal['unknown']
    command: str
    """The command as a shell command line."""

CommandAction = Union["CommandActionRead", "CommandActionListFiles", "CommandActionSearch", "CommandActionUnknown"]
"""What a part of a command does, as far as the server can tell."""

class CommandExecOutputDeltaNotification(TypedDict):
    """Params of the notification `command/exec/outputDelta`."""
    capReached: bool
    """Whether output is missing here because the limit of bytes was reached."""
    deltaBase64: str
    """New bytes in base64."""
    processId: str
    """Id of the command, chosen by the connection."""
    stream: 'CommandExecOutputStream'
    """The stream of the output."""

CommandExecOutputStream = Union[Literal['stdout'], Literal['stderr']]
"""The stream of an output."""

class CommandExecParams(TypedDict):
    """Params of `command/exec`."""
    command: list[str]
    """The program and its arguments."""
    cwd: NotRequired[Union[str, None]]
    """The working directory."""
    disableOutputCap: NotRequired[bool]
    """Whether the limit of output is disabled."""
    disableTimeout: NotRequired[bool]
    """Whether the timeout is disabled."""
    env: NotRequired[Union[dict[str, Union[str, None]], None]]
    """Changes of the environment: a string sets a variable, `null` removes it."""
    outputBytesCap: NotRequired[Union[int, None]]
    """Most bytes of each stream that are kept. Without it, a default of the server."""
    processId: NotRequired[Union[str, None]]
    """Id of the command, chosen by the connection, which is needed to write to the command or to terminate it."""
    sandboxPolicy: 'NotRequired[Union[SandboxPolicy, None]]'
    """Sandbox policy for the command."""
    size: 'NotRequired[Union[CommandExecTerminalSize, None]]'
    """The size of the terminal."""
    streamStdin: NotRequired[bool]
    """Whether the connection may write input later."""
    streamStdoutStderr: NotRequired[bool]
    """Whether output is sent in notifications while the process runs. The result then contains none."""
    timeoutMs: NotRequired[Union[int, None]]
    """Timeout in milliseconds. Without it, a default of the server."""
    tty: NotRequired[bool]
    """Whether it runs in a pseudoterminal."""

class CommandExecResizeParams(TypedDict):
    """Params of `command/exec/resize`."""
    processId: str
    """Id of the command, chosen by the connection."""
    size: 'CommandExecTerminalSize'
    """The size of the terminal."""

CommandExecResizeResponse = dict[str, Any]
"""Result of `command/exec/resize`."""

class CommandExecResponse(TypedDict):
    """Result of `command/exec`."""
    exitCode: int
    """The exit code."""
    stderr: str
    """Content of standard error."""
    stdout: str
    """Content of standard output."""

class CommandExecTerminalSize(TypedDict):
    """The size of a terminal, in characters."""
    cols: int
    """Number of columns."""
    rows: int
    """Number of rows."""

class CommandExecTerminateParams(TypedDict):
    """Params of `command/exec/terminate`."""
    processId: str
    """Id of the command, chosen by the connection."""

CommandExecTerminateResponse = dict[str, Any]
"""Result of `command/exec/terminate`."""

class CommandExecWriteParams(TypedDict):
    """Params of `command/exec/write`."""
    processId: str
    """Id of the command, chosen by the connection."""
    closeStdin: NotRequired[bool]
    """Whether standard input is closed after this input."""
    deltaBase64: NotRequired[Union[str, None]]
    """New bytes in base64."""

CommandExecWriteResponse = dict[str, Any]
"""Result of `command/exec/write`."""

class CommandExecutionApprovalDecision3AcceptWithExecpolicyAmendment(TypedDict):
    execpolicy_amendment: list[str]
    """First words of the commands that the rule allows."""

class CommandExecutionApprovalDecision3(TypedDict):
    """Yes, and in all threads allow commands that begin with these words."""
    acceptWithExecpolicyAmendment: 'CommandExecutionApprovalDecision3AcceptWithExecpolicyAmendment'

class CommandExecutionApprovalDecision4ApplyNetworkPolicyAmendment(TypedDict):
    network_policy_amendment: 'NetworkPolicyAmendment'
    """The rule."""

class CommandExecutionApprovalDecision4(TypedDict):
    """Yes, and apply a rule about the host."""
    applyNetworkPolicyAmendment: 'CommandExecutionApprovalDecision4ApplyNetworkPolicyAmendment'

CommandExecutionApprovalDecision = Union[Literal['accept'], Literal['acceptForSession'], "CommandExecutionApprovalDecision3", "CommandExecutionApprovalDecision4", Literal['decline'], Literal['cancel']]
"""Decision about a command."""

CommandExecutionApprovalKind = Union[Literal['command'], Literal['writeStdin'], Literal['humanCommand']]
"""What the approval is about."""

class CommandExecutionItem(TypedDict):
    """A command of the model or the user."""
    id: str
    """Id of the item."""
    command: str
    """The command as a shell command line."""
    commandActions: 'list[CommandAction]'
    """What the parts of the command do, as far as the server can tell."""
    cwd: str
    """The working directory."""
    status: 'CommandExecutionStatus'
    """The status."""
    startedAtMs: NotRequired[Union[int, None]]
    """Start time in Unix milliseconds."""
    aggregatedOutput: NotRequired[Union[str, None]]
    """Output of the command, truncated to a limit. `null` if there is none."""
    completedAtMs: NotRequired[Union[int, None]]
    """End time in Unix milliseconds."""
    durationMs: NotRequired[Union[int, None]]
    """Duration in milliseconds."""
    exitCode: NotRequired[Union[int, None]]
    """Exit code. `null` while the command runs."""
    pluginId: NotRequired[Union[str, None]]
    """Id of the plugin that it belongs to."""
    processId: NotRequired[Union[str, None]]
    """Id that the server gave to the process, as long as input can be written to it."""
    scriptPath: NotRequired[Union[str, None]]
    """Path of the script that the command runs."""
    source: 'NotRequired[CommandExecutionSource]'
    """Who started the command."""

class CommandExecutionOutputDeltaNotification(TypedDict):
    """Params of the notification `item/commandExecution/outputDelta`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""
    itemId: str
    """Id of the item."""
    delta: str
    """Text to append."""

class CommandExecutionRequestApprovalParams(TypedDict):
    """Params of the request to the client `item/commandExecution/requestApproval`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""
    itemId: str
    """Id of the item."""
    startedAtMs: int
    """Start time in Unix milliseconds."""
    approvalId: NotRequired[Union[str, None]]
    """Distinguishes several requests about one item."""
    command: NotRequired[Union[str, None]]
    """The command as a shell command line."""
    commandActions: 'NotRequired[Union[list[CommandAction], None]]'
    """What the parts of the command do, as far as the server can tell."""
    cwd: NotRequired[Union[str, None]]
    """The working directory."""
    environmentId: NotRequired[Union[str, None]]
    """Id of the environment. Without it, the server's machine."""
    kind: 'NotRequired[CommandExecutionApprovalKind]'
    """What the approval is about."""
    networkApprovalContext: 'NotRequired[Union[NetworkApprovalContext, None]]'
    """The network connection that is to be approved, if there is one."""
    proposedExecpolicyAmendment: NotRequired[Union[list[str], None]]
    """First words of the commands that a rule could allow from now on."""
    proposedNetworkPolicyAmendments: 'NotRequired[Union[list[NetworkPolicyAmendment], None]]'
    """Rules about hosts that could be added."""
    reason: NotRequired[Union[str, None]]
    """Why the command needs an approval."""
    rights: NotRequired[Union[str, None]]
    """The effective permissions of the command if it is accepted, in words. An addition of this server."""

class CommandExecutionRequestApprovalResponse(TypedDict):
    """Response to `item/commandExecution/requestApproval`."""
    decision: 'CommandExecutionApprovalDecision'
    """The decision."""

CommandExecutionSource = Union[Literal['agent'], Literal['userShell'], Literal['unifiedExecStartup'], Literal['unifiedExecInteraction']]
"""Who started a command."""

CommandExecutionStatus = Union[Literal['inProgress'], Literal['completed'], Literal['failed'], Literal['declined']]
"""Status of a command."""

class ConfigBatchWriteParams(TypedDict):
    """Params of `config/batchWrite`."""
    edits: 'list[ConfigEdit]'
    """The changes, in order."""
    expectedVersion: NotRequired[Union[str, None]]
    """Version of the file that the client knows. The write is refused if the file has another one."""
    filePath: NotRequired[Union[str, None]]
    """The file to write. Without it, the user's own file."""
    reloadUserConfig: NotRequired[bool]
    """Whether running threads use the new settings."""

class ConfigEdit(TypedDict):
    """One change of the configuration."""
    keyPath: str
    """The dotted key."""
    mergeStrategy: 'MergeStrategy'
    """How the value is combined with an existing one."""
    value: Any
    """The new value."""

class ConfigLayer(TypedDict):
    """One of the layers that make up the configuration."""
    config: Any
    """The settings."""
    name: 'ConfigLayerSource'
    """Source of the layer."""
    version: str
    """Version of the layer, for `expectedVersion`."""
    disabledReason: NotRequired[Union[str, None]]
    """Why the layer is disabled. `null` if it is not."""

class ConfigLayerMetadata(TypedDict):
    """The layer that a setting comes from."""
    name: 'ConfigLayerSource'
    """Source of the layer."""
    version: str
    """Version of the layer."""

class ConfigLayerSourcePackagedDefaults(TypedDict):
    """Defaults of the program."""
    type: Literal['packagedDefaults']
    file: 'AbsolutePath'
    """The file."""

class ConfigLayerSourceMdm(TypedDict):
    """Managed by the device (MDM)."""
    type: Literal['mdm']
    domain: str
    """Domain of the setting."""
    key: str
    """The key."""

class ConfigLayerSourceSystem(TypedDict):
    """The file of the machine."""
    type: Literal['system']
    file: 'AbsolutePath'
    """The file."""

class ConfigLayerSourceEnterpriseManaged(TypedDict):
    """Managed by an organization."""
    type: Literal['enterpriseManaged']
    id: str
    """Id of the layer."""
    name: str
    """Name of the layer."""

class ConfigLayerSourceUser(TypedDict):
    """The file of the user."""
    type: Literal['user']
    file: 'AbsolutePath'
    """The file."""
    profile: NotRequired[Union[str, None]]
    """Name of the profile."""

class ConfigLayerSourceProject(TypedDict):
    """The settings directory of a project."""
    type: Literal['project']
    dotCodexFolder: 'AbsolutePath'
    """The settings directory in the project."""

class ConfigLayerSourceSessionFlags(TypedDict):
    """Command line flags of this session."""
    type: Literal['sessionFlags']

class ConfigLayerSourceLegacyManagedConfigTomlFromFile(TypedDict):
    """A managed file in the older form."""
    type: Literal['legacyManagedConfigTomlFromFile']
    file: 'AbsolutePath'
    """The file."""

class ConfigLayerSourceLegacyManagedConfigTomlFromMdm(TypedDict):
    """Managed by the device (MDM), in the older form."""
    type: Literal['legacyManagedConfigTomlFromMdm']

ConfigLayerSource = Union["ConfigLayerSourcePackagedDefaults", "ConfigLayerSourceMdm", "ConfigLayerSourceSystem", "ConfigLayerSourceEnterpriseManaged", "ConfigLayerSourceUser", "ConfigLayerSourceProject", "ConfigLayerSourceSessionFlags", "ConfigLayerSourceLegacyManagedConfigTomlFromFile", "ConfigLayerSourceLegacyManagedConfigTomlFromMdm"]
"""A source of settings."""

class ConfigReadParams(TypedDict):
    """Params of `config/read`."""
    cwd: NotRequired[Union[str, None]]
    """The directory whose project settings apply."""
    includeLayers: NotRequired[bool]
    """Whether the response contains the layers."""

class ConfigReadResponse(TypedDict):
    """Result of `config/read`."""
    config: dict[str, Any]
    """The effective settings."""
    origins: 'dict[str, ConfigLayerMetadata]'
    """The layer of each setting, by dotted key."""
    layers: 'NotRequired[Union[list[ConfigLayer], None]]'
    """The layers, strongest first. `null` if they were not requested."""

class ConfigRequirementsReadResponse(TypedDict):
    """Result of `configRequirements/read`."""
    requirements: NotRequired[Any]
    """Requirements of an organization. `null` if there are none."""
    supportsIndependentSpeedModes: NotRequired[Union[bool, None]]
    """Whether speed and reasoning effort can be chosen independently."""

class ConfigValueWriteParams(TypedDict):
    """Params of `config/value/write`."""
    keyPath: str
    """The dotted key."""
    mergeStrategy: 'MergeStrategy'
    """How the value is combined with an existing one."""
    value: Any
    """The new value."""
    expectedVersion: NotRequired[Union[str, None]]
    """Version of the file that the client knows. The write is refused if the file has another one."""
    filePath: NotRequired[Union[str, None]]
    """The file to write. Without it, the user's own file."""

class ConfigWarningNotification(TypedDict):
    """Params of the notification `configWarning`."""
    summary: str
    """What is wrong."""
    details: NotRequired[Union[str, None]]
    """Explanation of the problem."""
    path: NotRequired[Union[str, None]]
    """Path of the configuration file."""
    range: 'NotRequired[Union[TextRange, None]]'
    """Range within the file."""

class ConfigWriteResponse(TypedDict):
    """Result of `config/value/write` and `config/batchWrite`."""
    filePath: 'AbsolutePath'
    """The file that was written."""
    status: 'WriteStatus'
    """Whether the written setting is effective."""
    version: str
    """Version of the file after the write."""
    overriddenMetadata: 'NotRequired[Union[OverriddenMetadata, None]]'
    """The layer that overrides the written setting. `null` if none does."""

class ContextCompactedNotification(TypedDict):
    """Params of the notification `thread/compacted`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""

class ContextCompactionItem(TypedDict):
    """A compaction of the history."""
    id: str
    """Id of the item."""
    startedAtMs: NotRequired[Union[int, None]]
    """Start time in Unix milliseconds."""
    completedAtMs: NotRequired[Union[int, None]]
    """End time in Unix milliseconds."""

class CreditsSnapshot(TypedDict):
    """Credits of an account."""
    hasCredits: bool
    """Whether there are any credits."""
    unlimited: bool
    """Whether the credits are unlimited."""
    balance: NotRequired[Union[str, None]]
    """Remaining credits, as a decimal number."""

CyberAccessProgram = Union[Literal['standard'], Literal['daybreakBlue'], Literal['daybreakRed']]
"""An access program of the model provider for work on security."""

class DeprecationNoticeNotification(TypedDict):
    """Params of the notification `deprecationNotice`."""
    summary: str
    """What is deprecated."""
    details: NotRequired[Union[str, None]]
    """Explanation for people, for example what to use instead."""

DesktopOnboardingEntrypoint = Literal['life_sciences']
"""Life sciences."""

class DynamicToolCallItem(TypedDict):
    """A call of a tool that the client runs."""
    id: str
    """Id of the item."""
    arguments: Any
    """The arguments, as the model gave them."""
    status: 'DynamicToolCallStatus'
    """The status."""
    tool: str
    """Name of the tool."""
    startedAtMs: NotRequired[Union[int, None]]
    """Start time in Unix milliseconds."""
    completedAtMs: NotRequired[Union[int, None]]
    """End time in Unix milliseconds."""
    contentItems: 'NotRequired[Union[list[DynamicToolCallOutputContentItem], None]]'
    """The parts of the result."""
    durationMs: NotRequired[Union[int, None]]
    """Duration in milliseconds."""
    namespace: NotRequired[Union[str, None]]
    """The namespace of the tool."""
    success: NotRequired[Union[bool, None]]
    """Whether the tool succeeded."""

class DynamicToolCallOutputContentItemInputText(TypedDict):
    """A text."""
    type: Literal['inputText']
    text: str
    """The text."""

class DynamicToolCallOutputContentItemInputImage(TypedDict):
    """An image."""
    type: Literal['inputImage']
    imageUrl: str
    """URL of the image, which may be a data URL."""

class DynamicToolCallOutputContentItemInputAudio(TypedDict):
    """An audio recording."""
    type: Literal['inputAudio']
    audioUrl: str
    """URL of the audio recording, which may be a data URL."""

DynamicToolCallOutputContentItem = Union["DynamicToolCallOutputContentItemInputText", "DynamicToolCallOutputContentItemInputImage", "DynamicToolCallOutputContentItemInputAudio"]
"""One part of the result of a client's tool."""

class DynamicToolCallParams(TypedDict):
    """Params of the request to the client `item/tool/call`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""
    arguments: Any
    """The arguments, as the model gave them."""
    callId: str
    """Id of the tool call that the model chose."""
    tool: str
    """Name of the tool."""
    namespace: NotRequired[Union[str, None]]
    """The namespace of the tool."""

class DynamicToolCallResponse(TypedDict):
    """Response to `item/tool/call`."""
    contentItems: 'list[DynamicToolCallOutputContentItem]'
    """The parts of the result."""
    success: bool
    """Whether the tool succeeded."""

DynamicToolCallStatus = Union[Literal['inProgress'], Literal['completed'], Literal['failed']]
"""Status of a call of a client's tool."""

class EnteredReviewModeItem(TypedDict):
    """The start of a review."""
    id: str
    """Id of the item."""
    review: str
    """What is reviewed, or the text of the reviewer."""
    startedAtMs: NotRequired[Union[int, None]]
    """Start time in Unix milliseconds."""
    completedAtMs: NotRequired[Union[int, None]]
    """End time in Unix milliseconds."""

class ErrorNotification(TypedDict):
    """Params of the notification `error`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""
    error: 'TurnError'
    """The error."""
    willRetry: bool
    """Whether the server retries automatically."""

class ErrorResponse(TypedDict):
    id: 'RequestId'
    error: 'RpcError'

class ExecCommandApprovalParams(TypedDict):
    """Params of the request to the client `execCommandApproval`."""
    callId: str
    """Id of the tool call that the model chose."""
    command: list[str]
    """The program and its arguments."""
    conversationId: str
    """Id of the thread."""
    cwd: str
    """The working directory."""
    parsedCmd: 'list[ParsedCommand]'
    """What the parts of the command do, as far as the server can tell."""
    approvalId: NotRequired[Union[str, None]]
    """Distinguishes several requests about one item."""
    reason: NotRequired[Union[str, None]]
    """Why the command needs an approval."""

class ExecCommandApprovalResponse(TypedDict):
    """Response to `execCommandApproval`."""
    decision: 'ReviewDecision'
    """The decision."""

class ExitedReviewModeItem(TypedDict):
    """The end of a review."""
    id: str
    """Id of the item."""
    review: str
    """What is reviewed, or the text of the reviewer."""
    startedAtMs: NotRequired[Union[int, None]]
    """Start time in Unix milliseconds."""
    completedAtMs: NotRequired[Union[int, None]]
    """End time in Unix milliseconds."""

class ExperimentalFeature(TypedDict):
    """A feature that can be switched on and off."""
    defaultEnabled: bool
    """Whether it is enabled by default."""
    enabled: bool
    """Whether it is enabled."""
    name: str
    """Name of the feature."""
    stage: 'ExperimentalFeatureStage'
    """How mature it is."""
    announcement: NotRequired[Union[str, None]]
    """Announcement of the feature for users."""
    description: NotRequired[Union[str, None]]
    """Description for people."""
    displayName: NotRequired[Union[str, None]]
    """Display name."""

class ExperimentalFeatureListParams(TypedDict):
    """Params of `experimentalFeature/list`."""
    threadId: NotRequired[Union[str, None]]
    """Id of the thread."""
    cursor: NotRequired[Union[str, None]]
    """Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning."""
    limit: NotRequired[Union[int, None]]
    """Most entries of a page."""

class ExperimentalFeatureListResponse(TypedDict):
    """Result of `experimentalFeature/list`."""
    data: 'list[ExperimentalFeature]'
    """The requested entries."""
    nextCursor: NotRequired[Union[str, None]]
    """Cursor of the next page. `null` on the last page."""

ExperimentalFeatureStage = Union[Literal['beta'], Literal['underDevelopment'], Literal['stable'], Literal['deprecated'], Literal['removed']]
"""How mature a feature is."""

class FileChangeAdd(TypedDict):
    """The file is new."""
    type: Literal['add']
    content: str
    """Content of the new file."""

class FileChangeDelete(TypedDict):
    """The file is deleted."""
    type: Literal['delete']
    content: str
    """Content of the deleted file."""

class FileChangeUpdate(TypedDict):
    """The file changes, and may be moved."""
    type: Literal['update']
    unified_diff: str
    """The change as a unified diff."""
    move_path: NotRequired[Union[str, None]]
    """New path of the file, if it is moved."""

FileChange = Union["FileChangeAdd", "FileChangeDelete", "FileChangeUpdate"]
"""A change of one file, in the form of the older approval request."""

FileChangeApprovalDecision = Union[Literal['accept'], Literal['acceptForSession'], Literal['decline'], Literal['cancel']]
"""Decision about file changes."""

class FileChangeItem(TypedDict):
    """A change of files by the model."""
    id: str
    """Id of the item."""
    changes: 'list[FileUpdateChange]'
    """The changes, by file."""
    status: 'PatchApplyStatus'
    """The status."""
    startedAtMs: NotRequired[Union[int, None]]
    """Start time in Unix milliseconds."""
    completedAtMs: NotRequired[Union[int, None]]
    """End time in Unix milliseconds."""

class FileChangeOutputDeltaNotification(TypedDict):
    """Params of the notification `item/fileChange/outputDelta`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""
    itemId: str
    """Id of the item."""
    delta: str
    """Text to append."""

class FileChangePatchUpdatedNotification(TypedDict):
    """Params of the notification `item/fileChange/patchUpdated`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""
    itemId: str
    """Id of the item."""
    changes: 'list[FileUpdateChange]'
    """The changes, by file."""

class FileChangeRequestApprovalParams(TypedDict):
    """Params of the request to the client `item/fileChange/requestApproval`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""
    itemId: str
    """Id of the item."""
    startedAtMs: int
    """Start time in Unix milliseconds."""
    grantRoot: NotRequired[Union[str, None]]
    """A directory that the model wants to write to from now on."""
    reason: NotRequired[Union[str, None]]
    """Why the changes need an approval."""

class FileChangeRequestApprovalResponse(TypedDict):
    """Response to `item/fileChange/requestApproval`."""
    decision: 'FileChangeApprovalDecision'
    """The decision."""

FileSystemAccessMode = Union[Literal['read'], Literal['write'], Literal['deny']]
"""Access mode of a path."""

class FileSystemPathPath(TypedDict):
    """A path and everything below it."""
    type: Literal['path']
    path: str
    """The path."""

class FileSystemPathGlobPattern(TypedDict):
    """The paths that match a glob pattern."""
    type: Literal['glob_pattern']
    pattern: str
    """The pattern."""

class FileSystemPathSpecial(TypedDict):
    """A special place, whose path depends on the machine."""
    type: Literal['special']
    value: 'FileSystemSpecialPath'
    """The special place."""

FileSystemPath = Union["FileSystemPathPath", "FileSystemPathGlobPattern", "FileSystemPathSpecial"]
"""The paths that a permission applies to."""

class FileSystemSandboxEntry(TypedDict):
    """The access mode of a path."""
    access: 'FileSystemAccessMode'
    """The access mode."""
    path: 'FileSystemPath'
    """The path that the mode applies to."""

class FileSystemSpecialPathRoot(TypedDict):
    """The root of the file system."""
    kind: Literal['root']

class FileSystemSpecialPathMinimal(TypedDict):
    """The minimal set of paths that programs need to run."""
    kind: Literal['minimal']

class FileSystemSpecialPathProjectRoots(TypedDict):
    """The directories of the project."""
    kind: Literal['project_roots']
    subpath: NotRequired[Union[str, None]]
    """A path below each directory, if only that is meant."""

class FileSystemSpecialPathTmpdir(TypedDict):
    """The directory for temporary files that the environment variable `TMPDIR` names."""
    kind: Literal['tmpdir']

class FileSystemSpecialPathSlashTmp(TypedDict):
    """The directory `/tmp`."""
    kind: Literal['slash_tmp']

class FileSystemSpecialPathUnknown(TypedDict):
    """A place that this version does not know."""
    kind: Literal['unknown']
    path: str
    """The unknown path."""
    subpath: NotRequired[Union[str, None]]
    """A path below it, if only that is meant."""

FileSystemSpecialPath = Union["FileSystemSpecialPathRoot", "FileSystemSpecialPathMinimal", "FileSystemSpecialPathProjectRoots", "FileSystemSpecialPathTmpdir", "FileSystemSpecialPathSlashTmp", "FileSystemSpecialPathUnknown"]
"""A special place, whose path depends on the machine."""

class FileUpdateChange(TypedDict):
    """A change of one file."""
    diff: str
    """Content of a file that is added or deleted, or a unified diff of a file that changes."""
    kind: 'PatchChangeKind'
    """What happens to the file."""
    path: str
    """Path of the file."""

class FsChangedNotification(TypedDict):
    """Params of the notification `fs/changed`."""
    changedPaths: 'list[AbsolutePath]'
    """Paths that changed."""
    watchId: str
    """Id of the watch, chosen by the connection."""

class FsCopyParams(TypedDict):
    """Params of `fs/copy`."""
    destinationPath: 'AbsolutePath'
    """Path of the copy."""
    sourcePath: 'AbsolutePath'
    """Path of the source."""
    recursive: NotRequired[bool]
    """Whether directories are copied with their contents."""

FsCopyResponse = dict[str, Any]
"""Result of `fs/copy`."""

class FsCreateDirectoryParams(TypedDict):
    """Params of `fs/createDirectory`."""
    path: 'AbsolutePath'
    """Path of the directory."""
    recursive: NotRequired[Union[bool, None]]
    """Whether parent directories are created too. Defaults to true."""

FsCreateDirectoryResponse = dict[str, Any]
"""Result of `fs/createDirectory`."""

class FsGetMetadataParams(TypedDict):
    """Params of `fs/getMetadata`."""
    path: 'AbsolutePath'
    """Path of the file or directory."""

class FsGetMetadataResponse(TypedDict):
    """Result of `fs/getMetadata`."""
    createdAtMs: int
    """Creation time in Unix milliseconds. 0 if the file system does not store it."""
    isDirectory: bool
    """Whether it is a directory."""
    isFile: bool
    """Whether it is a regular file."""
    isSymlink: bool
    """Whether it is a symlink."""
    modifiedAtMs: int
    """Modification time in Unix milliseconds. 0 if the file system does not store it."""

class FsReadDirectoryEntry(TypedDict):
    """One entry of a directory."""
    fileName: str
    """Name without the directory."""
    isDirectory: bool
    """Whether it is a directory."""
    isFile: bool
    """Whether it is a regular file."""

class FsReadDirectoryParams(TypedDict):
    """Params of `fs/readDirectory`."""
    path: 'AbsolutePath'
    """Path of the directory."""

class FsReadDirectoryResponse(TypedDict):
    """Result of `fs/readDirectory`."""
    entries: 'list[FsReadDirectoryEntry]'
    """The entries of the directory."""

class FsReadFileParams(TypedDict):
    """Params of `fs/readFile`."""
    path: 'AbsolutePath'
    """Path of the file."""

class FsReadFileResponse(TypedDict):
    """Result of `fs/readFile`."""
    dataBase64: str
    """The content in base64."""

class FsRemoveParams(TypedDict):
    """Params of `fs/remove`."""
    path: 'AbsolutePath'
    """Path of the file or directory."""
    force: NotRequired[Union[bool, None]]
    """Whether a missing path is not an error."""
    recursive: NotRequired[Union[bool, None]]
    """Whether directories are removed with their contents. Defaults to true."""

FsRemoveResponse = dict[str, Any]
"""Result of `fs/remove`."""

class FsUnwatchParams(TypedDict):
    """Params of `fs/unwatch`."""
    watchId: str
    """Id of the watch, chosen by the connection."""

FsUnwatchResponse = dict[str, Any]
"""Result of `fs/unwatch`."""

class FsWatchParams(TypedDict):
    """Params of `fs/watch`."""
    path: 'AbsolutePath'
    """Path of the file or directory to watch."""
    watchId: str
    """Id of the watch, chosen by the connection."""

class FsWatchResponse(TypedDict):
    """Result of `fs/watch`."""
    path: 'AbsolutePath'
    """The watched path."""

class FsWriteFileParams(TypedDict):
    """Params of `fs/writeFile`."""
    dataBase64: str
    """The content in base64."""
    path: 'AbsolutePath'
    """Path of the file."""

FsWriteFileResponse = dict[str, Any]
"""Result of `fs/writeFile`."""

FunctionCallOutputBody = Union[str, list["FunctionCallOutputContentItem"]]
"""Output of a function: a text or several parts."""

class FunctionCallOutputContentItemInputText(TypedDict):
    """A text."""
    type: Literal['input_text']
    text: str
    """The text."""

class FunctionCallOutputContentItemInputImage(TypedDict):
    """An image."""
    image_url: NotRequired[str]
    """The URL."""
    file_id: NotRequired[str]
    """Id that the provider gave to the file."""
    type: Literal['input_image']
    detail: 'NotRequired[Union[ImageDetail, None]]'
    """Level of detail for the model."""

class FunctionCallOutputContentItemInputAudio(TypedDict):
    """An audio recording."""
    audio_url: NotRequired[str]
    """The URL."""
    file_id: NotRequired[str]
    """Id that the provider gave to the file."""
    type: Literal['input_audio']

class FunctionCallOutputContentItemEncryptedContent(TypedDict):
    """Content that only the model provider can read."""
    type: Literal['encrypted_content']
    encrypted_content: str
    """The encrypted content."""

FunctionCallOutputContentItem = Union["FunctionCallOutputContentItemInputText", "FunctionCallOutputContentItemInputImage", "FunctionCallOutputContentItemInputAudio", "FunctionCallOutputContentItemEncryptedContent"]
"""One part of the output of a function."""

class FunctionCallOutputItem(TypedDict):
    """The output of a function without an item type of its own."""
    id: str
    """Id of the item."""
    name: str
    """Name of the function."""
    output: 'FunctionCallOutputBody'
    """The output."""
    startedAtMs: NotRequired[Union[int, None]]
    """Start time in Unix milliseconds."""
    completedAtMs: NotRequired[Union[int, None]]
    """End time in Unix milliseconds."""
    namespace: NotRequired[Union[str, None]]
    """The namespace of the tool."""

FuzzyFileSearchMatchType = Union[Literal['file'], Literal['directory']]
"""Type of a search result."""

class FuzzyFileSearchParams(TypedDict):
    """Params of `fuzzyFileSearch`."""
    query: str
    """The searched text."""
    roots: list[str]
    """Directories to search."""
    cancellationToken: NotRequired[Union[str, None]]
    """Name of the search. A new search with the same name cancels the old one."""

class FuzzyFileSearchResponse(TypedDict):
    """Result of `fuzzyFileSearch`."""
    files: 'list[FuzzyFileSearchResult]'
    """The results, best first."""

class FuzzyFileSearchResult(TypedDict):
    """A result of a search."""
    file_name: str
    """Name without the directory."""
    match_type: 'FuzzyFileSearchMatchType'
    """Type of the result."""
    path: str
    """Path of the file or directory, relative to `root`."""
    root: str
    """The searched directory that contains it."""
    score: int
    """Score of the match. Higher is better."""
    indices: NotRequired[Union[list[int], None]]
    """Indexes of the characters of the path that match."""

class FuzzyFileSearchSessionCompletedNotification(TypedDict):
    """Params of the notification `fuzzyFileSearch/sessionCompleted`."""
    sessionId: str
    """Id of the search session."""

class FuzzyFileSearchSessionUpdatedNotification(TypedDict):
    """Params of the notification `fuzzyFileSearch/sessionUpdated`."""
    files: 'list[FuzzyFileSearchResult]'
    """The results, best first."""
    query: str
    """The searched text."""
    sessionId: str
    """Id of the search session."""

class GatewayAuthNone(TypedDict):
    """Not at all."""
    mode: Literal['none']

class GatewayAuthEnvironmentVariable(TypedDict):
    """With a key from an environment variable."""
    mode: Literal['environmentVariable']
    envKey: str
    """Name of the environment variable."""

class GatewayAuthExternallyConfigured(TypedDict):
    """As configured elsewhere."""
    mode: Literal['externallyConfigured']
    envKey: NotRequired[Union[str, None]]
    """Name of the environment variable."""

GatewayAuth = Union["GatewayAuthNone", "GatewayAuthEnvironmentVariable", "GatewayAuthExternallyConfigured"]
"""How the server authenticates at a gateway."""

class GetAccountParams(TypedDict):
    """Params of `account/read`."""
    refreshToken: NotRequired[bool]
    """Whether tokens are refreshed first."""

class GetAccountResponse(TypedDict):
    """Result of `account/read`."""
    requiresOpenaiAuth: bool
    """Whether the user must log in before using the server."""
    account: 'NotRequired[Union[Account, None]]'
    """The account. `null` if there is none."""
    userId: NotRequired[Union[str, None]]
    """Id of the user."""

class GitInfo(TypedDict):
    """State of the Git repository that a thread works in."""
    branch: NotRequired[Union[str, None]]
    """Name of the branch."""
    originUrl: NotRequired[Union[str, None]]
    """URL of the repository's origin."""
    sha: NotRequired[Union[str, None]]
    """Hash of the commit."""

class GrantedPermissionProfile(TypedDict):
    """The permissions that the user granted."""
    fileSystem: 'NotRequired[Union[AdditionalFileSystemPermissions, None]]'
    """Permissions for files."""
    network: 'NotRequired[Union[AdditionalNetworkPermissions, None]]'
    """Permissions for the network."""

class HookCompletedNotification(TypedDict):
    """Params of the notification `hook/completed`."""
    threadId: str
    """Id of the thread."""
    run: 'HookRunSummary'
    """The run."""
    turnId: NotRequired[Union[str, None]]
    """Id of the turn."""

class HookErrorInfo(TypedDict):
    """An error of reading a hook."""
    message: str
    """The message for people."""
    path: str
    """Path of the file."""

HookEventName = Union[Literal['preModelRequest'], Literal['postModelRequest'], Literal['preToolUse'], Literal['permissionRequest'], Literal['postToolUse'], Literal['preCompact'], Literal['postCompact'], Literal['sessionStart'], Literal['sessionEnd'], Literal['userPromptSubmit'], Literal['subagentStart'], Literal['subagentStop'], Literal['stop'], Literal['interrupt']]
"""Events at which hooks run."""

HookExecutionMode = Union[Literal['sync'], Literal['async']]
"""Whether the server waits for a hook."""

HookHandlerType = Union[Literal['command'], Literal['mcpTool'], Literal['prompt'], Literal['agent']]
"""What a hook runs."""

HookMetadata = TypedDict("HookMetadata", {"handlerType": NotRequired[Literal['agent']], "command": NotRequired[str], "async": NotRequired[bool], "server": NotRequired[str], "tool": NotRequired[str], "currentHash": str, "displayOrder": int, "enabled": bool, "eventName": 'HookEventName', "isManaged": bool, "key": str, "source": 'HookSource', "sourcePath": 'AbsolutePath', "timeoutSec": int, "trustStatus": 'HookTrustStatus', "additionalContextLimit": NotRequired[Union[int, None]], "environmentId": NotRequired[Union[str, None]], "matcher": NotRequired[Union[str, None]], "pluginId": NotRequired[Union[str, None]], "statusMessage": NotRequired[Union[str, None]]})

class HookOutputEntry(TypedDict):
    """An output of a hook."""
    kind: 'HookOutputEntryKind'
    """Kind of the output."""
    text: str
    """The text."""

HookOutputEntryKind = Union[Literal['warning'], Literal['stop'], Literal['feedback'], Literal['context'], Literal['error']]
"""Kinds of outputs of a hook."""

class HookPromptFragment(TypedDict):
    """A text that a hook added to the conversation."""
    hookRunId: str
    """Id of the hook run."""
    text: str
    """The text."""

class HookPromptItem(TypedDict):
    """Texts that hooks added to the conversation."""
    id: str
    """Id of the item."""
    fragments: 'list[HookPromptFragment]'
    """The texts."""
    startedAtMs: NotRequired[Union[int, None]]
    """Start time in Unix milliseconds."""
    completedAtMs: NotRequired[Union[int, None]]
    """End time in Unix milliseconds."""

HookRunStatus = Union[Literal['running'], Literal['completed'], Literal['failed'], Literal['blocked'], Literal['stopped']]
"""Status of a run of a hook."""

class HookRunSummary(TypedDict):
    """A run of a hook."""
    id: str
    """Id of the run."""
    displayOrder: int
    """Position among the other hooks."""
    entries: 'list[HookOutputEntry]'
    """Outputs of the hook."""
    eventName: 'HookEventName'
    """The event at which the hook runs."""
    executionMode: 'HookExecutionMode'
    """Whether the server waits for it."""
    handlerType: 'HookHandlerType'
    """What it runs."""
    scope: 'HookScope'
    """What the run belongs to."""
    sourcePath: str
    """The file that configures the hook."""
    startedAt: int
    """Start time."""
    status: 'HookRunStatus'
    """The status."""
    completedAt: NotRequired[Union[int, None]]
    """End time. `null` while the hook runs."""
    durationMs: NotRequired[Union[int, None]]
    """Duration in milliseconds."""
    source: 'NotRequired[HookSource]'
    """Where the hook is configured."""
    statusMessage: NotRequired[Union[str, None]]
    """Message that is shown while it runs."""

HookScope = Union[Literal['thread'], Literal['turn']]
"""What a run of a hook belongs to."""

HookSource = Union[Literal['system'], Literal['user'], Literal['project'], Literal['mdm'], Literal['sessionFlags'], Literal['plugin'], Literal['cloudRequirements'], Literal['cloudManagedConfig'], Literal['legacyManagedConfigFile'], Literal['legacyManagedConfigMdm'], Literal['unknown']]
"""Where a hook is configured."""

class HookStartedNotification(TypedDict):
    """Params of the notification `hook/started`."""
    threadId: str
    """Id of the thread."""
    run: 'HookRunSummary'
    """The run."""
    turnId: NotRequired[Union[str, None]]
    """Id of the turn."""

HookTrustStatus = Union[Literal['managed'], Literal['untrusted'], Literal['trusted'], Literal['modified']]
"""Whether a hook is trusted to run."""

class HooksListEntry(TypedDict):
    """The hooks of one directory."""
    cwd: str
    """The working directory."""
    errors: 'list[HookErrorInfo]'
    """Errors of reading."""
    hooks: 'list[HookMetadata]'
    """The hooks."""
    warnings: list[str]
    """Warnings."""

class HooksListParams(TypedDict):
    """Params of `hooks/list`."""
    threadId: NotRequired[Union[str, None]]
    """Id of the thread."""
    cwds: NotRequired[list[str]]
    """Working directories. If empty, the working directory of the server."""

class HooksListResponse(TypedDict):
    """Result of `hooks/list`."""
    data: 'list[HooksListEntry]'
    """The requested entries."""

ImageDetail = Union[Literal['auto'], Literal['low'], Literal['high'], Literal['original']]
"""Level of detail of an image for the model."""

class ImageGenerationFailure(TypedDict):
    """The usage limit of the account is exceeded."""
    type: Literal['usageLimitExceeded']
    limitId: str
    """The id of the limit."""
    resetsAt: NotRequired[Union[int, None]]
    """Time of the next reset in Unix seconds."""

class ImageGenerationInputImage(TypedDict):
    """An image from which another one is generated."""
    path: 'AbsolutePath'
    """Path of the image."""
    sha256: str
    """SHA-256 checksum of the image."""

class ImageGenerationItem(TypedDict):
    """An image that the model generates."""
    result: NotRequired[str]
    """The image in base64. Empty until it is complete."""
    fileId: NotRequired[str]
    """Id that the provider gave to the file."""
    id: str
    """Id of the item."""
    status: str
    """The status."""
    startedAtMs: NotRequired[Union[int, None]]
    """Start time in Unix milliseconds."""
    completedAtMs: NotRequired[Union[int, None]]
    """End time in Unix milliseconds."""
    failure: 'NotRequired[Union[ImageGenerationFailure, None]]'
    """Why there is no image. `null` if it did not fail."""
    generationId: NotRequired[Union[str, None]]
    """Id that the provider gave to the image."""
    inputImages: 'NotRequired[list[ImageGenerationInputImage]]'
    """Images from which it is generated."""
    revisedPrompt: NotRequired[Union[str, None]]
    """The prompt as the provider revised it."""
    savedPath: 'NotRequired[Union[AbsolutePath, None]]'
    """The file in which it was stored."""
    transparentBackground: NotRequired[Union[bool, None]]
    """Whether the background is transparent."""

class ImageViewItem(TypedDict):
    """An image that the model viewed."""
    id: str
    """Id of the item."""
    path: str
    """Path of the image."""
    startedAtMs: NotRequired[Union[int, None]]
    """Start time in Unix milliseconds."""
    completedAtMs: NotRequired[Union[int, None]]
    """End time in Unix milliseconds."""

class InitializeCapabilities(TypedDict):
    """Capabilities and wishes of a client."""
    experimentalApi: NotRequired[bool]
    """Whether the client uses experimental parts of the protocol."""
    explicitGatewayOauth: NotRequired[bool]
    """Whether the client itself starts logins at gateways."""
    extensions: NotRequired[Union[dict[str, Any], None]]
    """Capabilities of the client that the protocol does not define."""
    mcpServerOpenaiFormElicitation: NotRequired[bool]
    """Whether the client shows the provider's own kind of forms."""
    optOutNotificationMethods: NotRequired[Union[list[str], None]]
    """Exact names of notifications that the client does not want."""
    requestAttestation: NotRequired[bool]
    """Whether the client can prove its identity."""
    requiredHumanApproval: NotRequired[bool]
    """Whether the client accepts requests that only a person may answer."""

class InitializeParams(TypedDict):
    """Params of `initialize`."""
    clientInfo: 'ClientInfo'
    """Name and version of the client."""
    capabilities: 'NotRequired[Union[InitializeCapabilities, None]]'
    """Capabilities and wishes of the client."""

class InitializeResponse(TypedDict):
    """Result of `initialize`."""
    codexHome: 'AbsolutePath'
    """The server home."""
    platformFamily: str
    """`unix` or `windows`."""
    platformOs: str
    """Name of the operating system."""
    userAgent: str
    """Name and version of the server, followed by the client. Clients parse the version."""

InputModality = Union[Literal['text'], Literal['image'], Literal['audio']]
"""A kind of input that a model accepts."""

class ItemCompletedNotification(TypedDict):
    """Params of the notification `item/completed`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""
    completedAtMs: int
    """End time in Unix milliseconds."""
    item: 'ThreadItem'
    """The item."""
    contentTokenCount: NotRequired[Union[int, None]]
    """Number of tokens that the item has for the model, if known."""

class ItemStartedNotification(TypedDict):
    """Params of the notification `item/started`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""
    startedAtMs: int
    """Start time in Unix milliseconds."""
    item: 'ThreadItem'
    """The item."""

class ListMcpServerStatusParams(TypedDict):
    """Params of `mcpServerStatus/list`."""
    threadId: NotRequired[Union[str, None]]
    """Id of the thread."""
    cursor: NotRequired[Union[str, None]]
    """Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning."""
    detail: 'NotRequired[Union[McpServerStatusDetail, None]]'
    """How much is returned for each server. Everything if absent."""
    limit: NotRequired[Union[int, None]]
    """Most entries of a page."""
    serverName: NotRequired[Union[str, None]]
    """Name of the MCP server."""

class ListMcpServerStatusResponse(TypedDict):
    """Result of `mcpServerStatus/list`."""
    data: 'list[McpServerStatus]'
    """The requested entries."""
    nextCursor: NotRequired[Union[str, None]]
    """Cursor of the next page. `null` on the last page."""

class LoginAccountParamsApiKey(TypedDict):
    """An API key."""
    type: Literal['apiKey']
    apiKey: str
    """The key."""

class LoginAccountParamsChatgpt(TypedDict):
    """A ChatGPT account, in a browser."""
    type: Literal['chatgpt']
    appBrand: 'NotRequired[Union[LoginAppBrand, None]]'
    """The product whose name the page shows."""
    codexStreamlinedLogin: NotRequired[bool]
    """Whether the page is the short one."""
    useHostedLoginSuccessPage: NotRequired[bool]
    """Whether the page at the end is a hosted one."""

class LoginAccountParamsChatgptDeviceCode(TypedDict):
    """A ChatGPT account, with a code for another device."""
    type: Literal['chatgptDeviceCode']

class LoginAccountParamsChatgptAuthTokens(TypedDict):
    """A token that the client has and renews."""
    type: Literal['chatgptAuthTokens']
    accessToken: str
    """The token."""
    chatgptAccountId: str
    """The account that it belongs to."""
    chatgptPlanType: NotRequired[Union[str, None]]
    """The kind of subscription."""

class LoginAccountParamsAmazonBedrock(TypedDict):
    """A key of Amazon Bedrock."""
    type: Literal['amazonBedrock']
    apiKey: str
    """The key."""
    region: str
    """The region."""

class LoginAccountParamsAmazonBedrockAccessKeys(TypedDict):
    """Access keys of Amazon Bedrock."""
    type: Literal['amazonBedrockAccessKeys']
    accessKeyId: str
    """Id of the key."""
    region: str
    """The region."""
    secretAccessKey: str
    """The key."""
    sessionToken: NotRequired[Union[str, None]]
    """The token of a session."""

LoginAccountParams = Union["LoginAccountParamsApiKey", "LoginAccountParamsChatgpt", "LoginAccountParamsChatgptDeviceCode", "LoginAccountParamsChatgptAuthTokens", "LoginAccountParamsAmazonBedrock", "LoginAccountParamsAmazonBedrockAccessKeys"]
"""Params of `account/login/start`."""

class LoginAccountResponseApiKey(TypedDict):
    """The key is used."""
    type: Literal['apiKey']

class LoginAccountResponseChatgpt(TypedDict):
    """The user logs in at a URL."""
    type: Literal['chatgpt']
    authUrl: str
    """The URL."""
    loginId: str
    """Id of the login."""

class LoginAccountResponseChatgptDeviceCode(TypedDict):
    """The user enters a code at a URL."""
    type: Literal['chatgptDeviceCode']
    loginId: str
    """Id of the login."""
    userCode: str
    """The code."""
    verificationUrl: str
    """The URL."""

class LoginAccountResponseChatgptAuthTokens(TypedDict):
    """The token is used."""
    type: Literal['chatgptAuthTokens']

class LoginAccountResponseAmazonBedrock(TypedDict):
    """The credentials are used."""
    type: Literal['amazonBedrock']

LoginAccountResponse = Union["LoginAccountResponseApiKey", "LoginAccountResponseChatgpt", "LoginAccountResponseChatgptDeviceCode", "LoginAccountResponseChatgptAuthTokens", "LoginAccountResponseAmazonBedrock"]
"""Result of `account/login/start`."""

LoginAppBrand = Union[Literal['codex'], Literal['chatgpt']]
"""A product whose name a login page shows."""

LogoutAccountResponse = dict[str, Any]
"""Result of `account/logout`."""

McpAppDisplayMode = Union[Literal['inline'], Literal['fullscreen']]
"""How the user interface of a tool's application is displayed."""

class McpAppUi(TypedDict):
    """The user interface of a tool's application."""
    preferredModelDisplayMode: 'McpAppDisplayMode'
    """Display mode that the model prefers."""
    resourceUri: str
    """URI of the user interface."""

McpAuthStatus = Union[Literal['unknown'], Literal['unsupported'], Literal['notLoggedIn'], Literal['bearerToken'], Literal['oAuth']]
"""Authentication status of the user at an MCP server."""

class McpResourceReadParams(TypedDict):
    """Params of `mcpServer/resource/read`."""
    server: str
    """Name of the MCP server."""
    uri: str
    """Address of the resource."""
    threadId: NotRequired[Union[str, None]]
    """Id of a loaded thread that has the MCP server. Without it, the MCP server is started for this request."""
    _meta: NotRequired[Union[dict[str, Any], None]]
    """Metadata for the MCP server."""
    connectorId: NotRequired[Union[str, None]]
    """Ignored."""
    originCallId: NotRequired[Union[str, None]]
    """Ignored."""
    target: 'NotRequired[Union[McpResourceReadTarget, None]]'
    """Ignored."""

class McpResourceReadResponse(TypedDict):
    """Result of `mcpServer/resource/read`."""
    contents: 'list[ResourceContent]'
    """The contents."""
    originCallId: NotRequired[Union[str, None]]
    """Always `null`."""

class McpResourceReadTarget(TypedDict):
    """The app and account of a hosted resource. This server has none."""
    connectorId: str
    """Id of the app."""
    linkId: NotRequired[Union[str, None]]
    """Id of the account."""

McpServerConnectionStatus = Union[Literal['notStarted'], Literal['starting'], Literal['connected'], Literal['authenticationRequired'], Literal['failed'], Literal['cancelled'], Literal['disabled']]
"""Status of the connection to an MCP server."""

McpServerElicitationAction = Union[Literal['accept'], Literal['decline'], Literal['cancel']]
"""What the user did with a form."""

class McpServerElicitationRequestParams(TypedDict):
    """Params of the request to the client `mcpServer/elicitation/request`."""
    mode: NotRequired[Literal['url']]
    challenge: NotRequired[str]
    """The challenge to sign."""
    description: NotRequired[str]
    """Description for people."""
    title: NotRequired[str]
    """The title."""
    _meta: NotRequired[Any]
    """Metadata of the MCP server."""
    message: NotRequired[str]
    """The message for people."""
    requestedSchema: NotRequired[Any]
    """JSON schema of the form."""
    elicitationId: NotRequired[str]
    """Id that the MCP server gave to the request."""
    url: NotRequired[str]
    """The URL."""
    threadId: str
    """Id of the thread."""
    serverName: str
    """Name of the MCP server."""
    turnId: NotRequired[Union[str, None]]
    """Id of the turn."""

class McpServerElicitationRequestResponse(TypedDict):
    """Response to `mcpServer/elicitation/request`."""
    action: 'McpServerElicitationAction'
    """What the user did."""
    _meta: NotRequired[Any]
    """Metadata of the MCP server."""
    content: NotRequired[Any]
    """The data that the user entered."""

class McpServerInfo(TypedDict):
    """Description that an MCP server gives of itself."""
    name: str
    """Name of the server."""
    version: str
    """Version of the server."""
    description: NotRequired[Union[str, None]]
    """Description for people."""
    icons: NotRequired[Union[list[Any], None]]
    """Icons."""
    title: NotRequired[Union[str, None]]
    """Display name."""
    websiteUrl: NotRequired[Union[str, None]]
    """URL of its website."""

McpServerOauthClientRegistration = Union[Literal['auto'], Literal['cimd'], Literal['dcr']]
"""How a client becomes known to an authorization server."""

class McpServerOauthLoginCompletedNotification(TypedDict):
    """Params of the notification `mcpServer/oauthLogin/completed`."""
    name: str
    """Name of the MCP server."""
    success: bool
    """Whether the user has logged in."""
    error: NotRequired[Union[str, None]]
    """Why not."""
    loginId: NotRequired[Union[str, None]]
    """Id of the login."""
    threadId: NotRequired[Union[str, None]]
    """Id of the thread that the login named."""

class McpServerOauthLoginParams(TypedDict):
    """Params of `mcpServer/oauth/login`."""
    name: str
    """Name of the MCP server."""
    threadId: NotRequired[Union[str, None]]
    """Id of the thread, which is repeated in the notification of the end."""
    scopes: NotRequired[Union[list[str], None]]
    """The scopes. If absent, those of the configuration or of the MCP server."""
    timeoutSecs: NotRequired[Union[int, None]]
    """Time limit of the login in seconds."""
    clientRegistration: 'NotRequired[Union[McpServerOauthClientRegistration, None]]'
    """How the server becomes known to the authorization server."""
    device: NotRequired[Union[bool, None]]
    """Whether the user types a code on another device, instead of a browser that returns to the machine of the server. An
addition of this server."""

class McpServerOauthLoginResponse(TypedDict):
    """Result of `mcpServer/oauth/login`."""
    authorizationUrl: str
    """The address that the user has to open."""
    loginId: NotRequired[Union[str, None]]
    """Id of the login, which the notification of the end has as well."""
    userCode: NotRequired[Union[str, None]]
    """With `device`: the code that the user types. An addition of this server."""
    verificationUrl: NotRequired[Union[str, None]]
    """With `device`: the address at which the user types it. An addition of this server."""

McpServerRefreshResponse = dict[str, Any]
"""Result of `config/mcpServer/reload`."""

McpServerStartupFailureReason = Literal['reauthenticationRequired']
"""The user must log in again."""

McpServerStartupState = Union[Literal['starting'], Literal['ready'], Literal['failed'], Literal['cancelled']]
"""Status of the start of an MCP server."""

class McpServerStatus(TypedDict):
    """An MCP server and what it offers."""
    authStatus: 'McpAuthStatus'
    """Authentication status of the user."""
    name: str
    """Name of the server."""
    resourceTemplates: 'list[ResourceTemplate]'
    """Templates of resources."""
    resources: 'list[Resource]'
    """Resources."""
    tools: 'dict[str, Tool]'
    """The tools by name."""
    httpOrigin: NotRequired[Union[str, None]]
    """Origin of the server's URL."""
    pluginId: NotRequired[Union[str, None]]
    """Id of the plugin that it belongs to."""
    runtimeStatus: 'NotRequired[Union[McpServerConnectionStatus, None]]'
    """Status of the connection."""
    serverCapabilities: NotRequired[Any]
    """Capabilities of the server."""
    serverInfo: 'NotRequired[Union[McpServerInfo, None]]'
    """Description that the server gives of itself."""
    toolListMeta: NotRequired[Any]
    """Metadata of the server's list of tools."""
    toolsError: NotRequired[Union[str, None]]
    """Error of listing the tools."""

McpServerStatusDetail = Union[Literal['full'], Literal['toolsAndAuthOnly']]
"""How much is returned for an MCP server."""

class McpServerStatusUpdatedNotification(TypedDict):
    """Params of the notification `mcpServer/startupStatus/updated`."""
    name: str
    """Name of the MCP server."""
    status: 'McpServerStartupState'
    """The status."""
    threadId: NotRequired[Union[str, None]]
    """Id of the thread."""
    error: NotRequired[Union[str, None]]
    """The error. `null` if there was none."""
    failureReason: 'NotRequired[Union[McpServerStartupFailureReason, None]]'
    """What the user can do about the error."""

class McpServerToolCallParams(TypedDict):
    """Params of `mcpServer/tool/call`."""
    server: str
    """Name of the MCP server."""
    threadId: str
    """Id of a loaded thread that has the MCP server."""
    tool: str
    """Name of the tool at the MCP server."""
    arguments: NotRequired[Any]
    """Arguments of the call."""
    _meta: NotRequired[Any]
    """Metadata for the MCP server."""

class McpServerToolCallResponse(TypedDict):
    """Result of `mcpServer/tool/call`, as the MCP server sent it."""
    content: list[Any]
    """The parts of the result."""
    isError: NotRequired[Union[bool, None]]
    """Whether the tool reports an error."""
    structuredContent: NotRequired[Any]
    """The result as data."""
    _meta: NotRequired[Any]
    """Metadata of the MCP server."""

class McpToolCallAppContext(TypedDict):
    """The application that a tool belongs to."""
    connectorId: str
    """The id of the application."""
    actionName: NotRequired[Union[str, None]]
    """The name of the action within the application."""
    appName: NotRequired[Union[str, None]]
    """The name of the application."""
    linkId: NotRequired[Union[str, None]]
    """Id of the link to the application."""
    resourceUri: NotRequired[Union[str, None]]
    """URI of the application's user interface."""

class McpToolCallError(TypedDict):
    """Why a tool call failed."""
    message: str
    """The message for people."""

class McpToolCallItem(TypedDict):
    """A call of a tool of an MCP server."""
    id: str
    """Id of the item."""
    arguments: Any
    """The arguments, as the model gave them."""
    server: str
    """Name of the MCP server."""
    status: 'McpToolCallStatus'
    """The status."""
    tool: str
    """Name of the tool."""
    startedAtMs: NotRequired[Union[int, None]]
    """Start time in Unix milliseconds."""
    appContext: 'NotRequired[Union[McpToolCallAppContext, None]]'
    """The application that the tool belongs to."""
    completedAtMs: NotRequired[Union[int, None]]
    """End time in Unix milliseconds."""
    durationMs: NotRequired[Union[int, None]]
    """Duration in milliseconds."""
    error: 'NotRequired[Union[McpToolCallError, None]]'
    """The error. `null` if there was none."""
    mcpAppResourceUri: NotRequired[Union[str, None]]
    """URI of the user interface of the tool's application."""
    mcpAppUi: 'NotRequired[Union[McpAppUi, None]]'
    """The user interface of the tool's application."""
    pluginId: NotRequired[Union[str, None]]
    """Id of the plugin that it belongs to."""
    readOnlyHint: NotRequired[Union[bool, None]]
    """Whether the tool declares that it changes nothing."""
    result: 'NotRequired[Union[McpToolCallResult, None]]'
    """The result. `null` if there is none."""

class McpToolCallProgressNotification(TypedDict):
    """Params of the notification `item/mcpToolCall/progress`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""
    itemId: str
    """Id of the item."""
    message: str
    """The message for people."""

class McpToolCallResult(TypedDict):
    """Result of a tool call."""
    content: list[Any]
    """The parts of the result."""
    _meta: NotRequired[Any]
    """Metadata of the MCP server."""
    structuredContent: NotRequired[Any]
    """The result as JSON."""

McpToolCallStatus = Union[Literal['inProgress'], Literal['completed'], Literal['failed']]
"""Status of a tool call."""

class MemoryCitation(TypedDict):
    """Memories that a message cites."""
    entries: 'list[MemoryCitationEntry]'
    """Places in memory files."""
    threadIds: list[str]
    """Ids of the threads."""

class MemoryCitationEntry(TypedDict):
    """A place in a memory file."""
    lineEnd: int
    """The last line."""
    lineStart: int
    """The first line."""
    note: str
    """Content of the place."""
    path: str
    """Path of the file."""

MergeStrategy = Union[Literal['replace'], Literal['upsert']]
"""How a written value is combined with an existing one."""

MessagePhase = Union[Literal['commentary'], Literal['partial_answer'], Literal['final_answer']]
"""Role of a message within its turn."""

class MisalignmentErrorDetails(TypedDict):
    """Details about a model that did something other than what it was asked."""
    detailedExplanation: NotRequired[Union[str, None]]
    """What happened."""
    errorType: NotRequired[Union[str, None]]
    """Kind of the error."""
    reviewTarget: NotRequired[Union[str, None]]
    """What was reviewed."""
    steer: 'NotRequired[Union[MisalignmentSteer, None]]'
    """How the turn can continue."""

class MisalignmentSteer(TypedDict):
    """How a turn can continue after the error `misalignmentPolicyViolation`."""
    message: str
    """The message for people."""

ModeKind = Union[Literal['plan'], Literal['default']]
"""Name of a collaboration mode."""

class Model(TypedDict):
    """A model that can be chosen."""
    id: str
    """Id of the model."""
    defaultReasoningEffort: str
    """The default reasoning effort."""
    description: str
    """What the model is good for."""
    displayName: str
    """Display name."""
    hidden: bool
    """Whether clients leave it out of their lists."""
    isDefault: bool
    """Whether it is the default model."""
    model: str
    """Name of the model."""
    supportedReasoningEfforts: 'list[ReasoningEffortOption]'
    """The reasoning efforts that can be chosen."""
    additionalSpeedTiers: NotRequired[list[str]]
    """Names of service tiers, in the older form."""
    availabilityNux: 'NotRequired[Union[ModelAvailabilityNux, None]]'
    """Message for users who see the model for the first time."""
    availableAccessPrograms: 'NotRequired[Union[ModelAccessPrograms, None]]'
    """Access programs under which the model can be used."""
    defaultServiceTier: NotRequired[Union[str, None]]
    """The default service tier."""
    inputModalities: 'NotRequired[list[InputModality]]'
    """Kinds of input that the model accepts."""
    modelSpecialty: NotRequired[Union[str, None]]
    """What the model is specialized in."""
    multiAgentVersion: 'NotRequired[Union[MultiAgentVersion, None]]'
    """Version of the collaboration tools that the model knows."""
    serviceTiers: 'NotRequired[list[ModelServiceTier]]'
    """The service tiers that can be chosen."""
    supportsPersonality: NotRequired[bool]
    """Whether its personality can be chosen."""
    upgrade: NotRequired[Union[str, None]]
    """The model that should be used instead."""
    upgradeInfo: 'NotRequired[Union[ModelUpgradeInfo, None]]'
    """Details about the model that should be used instead."""

class ModelAccessPrograms(TypedDict):
    """Access programs under which a model can be used."""
    cyber: 'list[CyberAccessProgram]'
    """Access programs for work on security."""

class ModelAvailabilityNux(TypedDict):
    """Message for users who see a model for the first time."""
    message: str
    """The message for people."""

class ModelListParams(TypedDict):
    """Params of `model/list`."""
    cursor: NotRequired[Union[str, None]]
    """Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning."""
    includeHidden: NotRequired[Union[bool, None]]
    """Whether hidden models are listed too."""
    limit: NotRequired[Union[int, None]]
    """Most entries of a page."""
    modelProvider: NotRequired[Union[str, None]]
    """Id of the model provider."""

class ModelListResponse(TypedDict):
    """Result of `model/list`."""
    data: 'list[Model]'
    """The requested entries."""
    nextCursor: NotRequired[Union[str, None]]
    """Cursor of the next page. `null` on the last page."""

ModelProviderCapabilitiesReadParams = dict[str, Any]
"""Params of `modelProvider/capabilities/read`."""

class ModelProviderCapabilitiesReadResponse(TypedDict):
    """Result of `modelProvider/capabilities/read`."""
    imageGeneration: bool
    """Whether the provider can generate images."""
    webSearch: bool
    """Whether the provider can search the web."""

ModelProviderListParams = dict[str, Any]
"""Params of `modelProvider/list`."""

class ModelProviderListResponse(TypedDict):
    """Result of `modelProvider/list`."""
    canChangeDefault: bool
    """Whether the default provider can be changed."""
    data: 'list[ModelProviderSummary]'
    """The requested entries."""
    defaultProviderId: str
    """Id of the default provider."""

class ModelProviderSummary(TypedDict):
    """A model provider of the configuration."""
    id: str
    """Id of the provider."""
    canEdit: bool
    """Whether it can be edited."""
    name: str
    """Name of the provider."""
    settings: 'ProviderSettings'
    """Settings of the provider."""
    baseUrl: NotRequired[Union[str, None]]
    """Base URL of the provider."""

ModelRerouteReason = Literal['highRiskCyberActivity']
"""The work may be a high risk to security."""

class ModelReroutedNotification(TypedDict):
    """Params of the notification `model/rerouted`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""
    fromModel: str
    """The requested model."""
    reason: 'ModelRerouteReason'
    """Why the other model answers."""
    toModel: str
    """The model that answers."""

class ModelServiceTier(TypedDict):
    """A service tier of a model."""
    id: str
    """Id of the tier."""
    description: str
    """Description for people."""
    name: str
    """Name of the tier."""

class ModelUpgradeInfo(TypedDict):
    """The model that should be used instead of another one."""
    model: str
    """Name of the model."""
    migrationMarkdown: NotRequired[Union[str, None]]
    """How to migrate, in Markdown."""
    modelLink: NotRequired[Union[str, None]]
    """URL of more information."""
    retirementAt: NotRequired[Union[int, None]]
    """Time when the old model is retired, in Unix seconds."""
    upgradeCopy: NotRequired[Union[str, None]]
    """Text for users about the upgrade."""

MultiAgentVersion = Union[Literal['disabled'], Literal['v1'], Literal['v2']]
"""Version of the collaboration tools that a model knows."""

NetworkAccess = Union[Literal['restricted'], Literal['enabled']]
"""Whether commands may use the network."""

class NetworkApprovalContext(TypedDict):
    """The connection that is to be approved."""
    host: str
    """The host."""
    protocol: 'NetworkApprovalProtocol'
    """The protocol."""

NetworkApprovalProtocol = Union[Literal['http'], Literal['https'], Literal['socks5Tcp'], Literal['socks5Udp']]
"""The protocol of a connection."""

class NetworkPolicyAmendment(TypedDict):
    """A rule about a host."""
    action: 'NetworkPolicyRuleAction'
    """The effect of the rule."""
    host: str
    """The host."""

NetworkPolicyRuleAction = Union[Literal['allow'], Literal['deny']]
"""The effect of a rule about a host."""

NonSteerableTurnKind = Union[Literal['review'], Literal['compact']]
"""A kind of turn that does not accept further input."""

class OverriddenMetadata(TypedDict):
    """The layer that overrides a written setting."""
    effectiveValue: Any
    """The effective value."""
    message: str
    """The message for people."""
    overridingLayer: 'ConfigLayerMetadata'
    """The layer."""

class ParsedCommandRead(TypedDict):
    """Reads a file."""
    type: Literal['read']
    cmd: str
    """The command as a shell command line."""
    name: str
    """Name of the file."""
    path: str
    """Path of the file."""

class ParsedCommandListFiles(TypedDict):
    """Lists files."""
    type: Literal['list_files']
    cmd: str
    """The command as a shell command line."""
    path: NotRequired[Union[str, None]]
    """Path of the directory, if the command names one."""

class ParsedCommandSearch(TypedDict):
    """Searches in files."""
    type: Literal['search']
    cmd: str
    """The command as a shell command line."""
    path: NotRequired[Union[str, None]]
    """Path of the file or directory, if the command names one."""
    query: NotRequired[Union[str, None]]
    """The searched text."""

class ParsedCommandUnknown(TypedDict):
    """Something else."""
    type: Literal['unknown']
    cmd: str
    """The command as a shell command line."""

ParsedCommand = Union["ParsedCommandRead", "ParsedCommandListFiles", "ParsedCommandSearch", "ParsedCommandUnknown"]
"""What a part of a command does, in the form of the older approval request."""

PatchApplyStatus = Union[Literal['inProgress'], Literal['completed'], Literal['failed'], Literal['declined']]
"""Status of a change of files."""

class PatchChangeKindAdd(TypedDict):
    """The file is new."""
    type: Literal['add']

class PatchChangeKindDelete(TypedDict):
    """The file is deleted."""
    type: Literal['delete']

class PatchChangeKindUpdate(TypedDict):
    """The file changes, and may be moved."""
    type: Literal['update']
    move_path: NotRequired[Union[str, None]]
    """New path of the file, if it is moved."""

PatchChangeKind = Union["PatchChangeKindAdd", "PatchChangeKindDelete", "PatchChangeKindUpdate"]
"""What happens to a file."""

PermissionGrantScope = Union[Literal['turn'], Literal['session']]
"""How long a permission lasts."""

class PermissionProfileListParams(TypedDict):
    """Params of `permissionProfile/list`."""
    cursor: NotRequired[Union[str, None]]
    """Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning."""
    cwd: NotRequired[Union[str, None]]
    """The working directory."""
    limit: NotRequired[Union[int, None]]
    """Most entries of a page."""

class PermissionProfileListResponse(TypedDict):
    """Result of `permissionProfile/list`."""
    data: 'list[PermissionProfileSummary]'
    """The requested entries."""
    nextCursor: NotRequired[Union[str, None]]
    """Cursor of the next page. `null` on the last page."""

class PermissionProfileSummary(TypedDict):
    """A permission profile that can be chosen."""
    id: str
    """Id of the profile."""
    allowed: bool
    """Whether it may be chosen."""
    description: NotRequired[Union[str, None]]
    """Description for people."""

class PermissionsRequestApprovalParams(TypedDict):
    """Params of the request to the client `item/permissions/requestApproval`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""
    itemId: str
    """Id of the item."""
    startedAtMs: int
    """Start time in Unix milliseconds."""
    cwd: str
    """The working directory."""
    permissions: 'RequestPermissionProfile'
    """The requested permissions."""
    environmentId: NotRequired[Union[str, None]]
    """Id of the environment. Without it, the server's machine."""
    reason: NotRequired[Union[str, None]]
    """Why the model asks for the permissions."""

class PermissionsRequestApprovalResponse(TypedDict):
    """Response to `item/permissions/requestApproval`."""
    permissions: 'GrantedPermissionProfile'
    """The granted permissions."""
    scope: 'NotRequired[PermissionGrantScope]'
    """How long the permissions last."""
    strictAutoReview: NotRequired[Union[bool, None]]
    """Whether a model reviews all actions from now on."""

Personality = Union[Literal['none'], Literal['friendly'], Literal['pragmatic']]
"""Personality of the model."""

class PlanDeltaNotification(TypedDict):
    """Params of the notification `item/plan/delta`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""
    itemId: str
    """Id of the item."""
    delta: str
    """Text to append."""

class PlanItem(TypedDict):
    """A plan that the model made in plan mode."""
    id: str
    """Id of the item."""
    text: str
    """The text."""
    startedAtMs: NotRequired[Union[int, None]]
    """Start time in Unix milliseconds."""
    completedAtMs: NotRequired[Union[int, None]]
    """End time in Unix milliseconds."""

PlanType = Union[Literal['free'], Literal['go'], Literal['plus'], Literal['pro'], Literal['prolite'], Literal['promax'], Literal['team'], Literal['self_serve_business_prolite'], Literal['self_serve_business_usage_based'], Literal['business'], Literal['ent26'], Literal['enterprise_cbp_automation'], Literal['enterprise_cbp_usage_based'], Literal['enterprise'], Literal['edu'], Literal['edu_plus'], Literal['edu_pro'], Literal['sci'], Literal['sci_plus'], Literal['unknown']]
"""The subscription of an account."""

class PluginInstalledParams(TypedDict):
    """Params of `plugin/installed`."""
    cwds: 'NotRequired[Union[list[AbsolutePath], None]]'
    """Working directories. If empty, the working directory of the server."""
    installSuggestionPluginNames: NotRequired[Union[list[str], None]]
    """Names of plugins that the client may suggest to install."""

class PluginInstalledResponse(TypedDict):
    """Result of `plugin/installed`."""
    marketplaces: list[Any]
    """Marketplaces with their plugins."""
    marketplaceLoadErrors: NotRequired[list[Any]]
    """Errors of loading marketplaces."""

class ProcessExitedNotification(TypedDict):
    """Params of the notification `process/exited`."""
    exitCode: int
    """The exit code."""
    processHandle: str
    """Id of the process, chosen by the connection."""
    stderr: str
    """Content of standard error."""
    stderrCapReached: bool
    """Whether output is missing because the limit of bytes was reached."""
    stdout: str
    """Content of standard output."""
    stdoutCapReached: bool
    """Whether output is missing because the limit of bytes was reached."""
    outputDrainTimedOut: NotRequired[Union[bool, None]]
    """Whether the streams stayed open after the process ended, so that output may be missing."""

class ProcessOutputDeltaNotification(TypedDict):
    """Params of the notification `process/outputDelta`."""
    capReached: bool
    """Whether output is missing here because the limit of bytes was reached."""
    deltaBase64: str
    """New bytes in base64."""
    processHandle: str
    """Id of the process, chosen by the connection."""
    stream: 'ProcessOutputStream'
    """The stream of the output."""

ProcessOutputStream = Union[Literal['stdout'], Literal['stderr']]
"""The stream of an output."""

class ProviderSettingsOpenai(TypedDict):
    """OpenAI."""
    type: Literal['openai']

class ProviderSettingsCustomGateway(TypedDict):
    """A custom gateway."""
    type: Literal['customGateway']
    auth: 'GatewayAuth'
    """How the server authenticates."""

class ProviderSettingsBedrock(TypedDict):
    """Amazon Bedrock."""
    type: Literal['bedrock']
    profile: NotRequired[Union[str, None]]
    """The profile."""
    region: NotRequired[Union[str, None]]
    """The region."""

class ProviderSettingsGcp(TypedDict):
    """Google Cloud."""
    type: Literal['gcp']
    credentialFile: NotRequired[Union[str, None]]
    """File with the credentials."""
    location: NotRequired[Union[str, None]]
    """The region."""
    projectId: NotRequired[Union[str, None]]
    """Id of the project."""

ProviderSettings = Union["ProviderSettingsOpenai", "ProviderSettingsCustomGateway", "ProviderSettingsBedrock", "ProviderSettingsGcp"]
"""Settings of a model provider."""

RateLimitReachedType = Union[Literal['rate_limit_reached'], Literal['workspace_owner_credits_depleted'], Literal['workspace_member_credits_depleted'], Literal['workspace_owner_usage_limit_reached'], Literal['workspace_member_usage_limit_reached']]
"""The limit that was reached."""

class RateLimitSnapshot(TypedDict):
    """Usage of an account's limits."""
    credits: 'NotRequired[Union[CreditsSnapshot, None]]'
    """Credits of the account."""
    individualLimit: 'NotRequired[Union[SpendControlLimitSnapshot, None]]'
    """Spending limit of this user."""
    limitId: NotRequired[Union[str, None]]
    """The id of the limit."""
    limitName: NotRequired[Union[str, None]]
    """The name of the limit."""
    normalModelSlug: NotRequired[Union[str, None]]
    """Model that the limit applies to."""
    planType: 'NotRequired[Union[PlanType, None]]'
    """The kind of subscription."""
    primary: 'NotRequired[Union[RateLimitWindow, None]]'
    """First time window."""
    rateLimitReachedType: 'NotRequired[Union[RateLimitReachedType, None]]'
    """The limit that was reached."""
    secondary: 'NotRequired[Union[RateLimitWindow, None]]'
    """Second time window."""
    spendControlReached: NotRequired[Union[bool, None]]
    """Whether a spending limit was reached."""

class RateLimitWindow(TypedDict):
    """A time window with a limit."""
    usedPercent: int
    """Used share of the limit, in percent."""
    resetsAt: NotRequired[Union[int, None]]
    """Time of the next reset in Unix seconds."""
    windowDurationMins: NotRequired[Union[int, None]]
    """Length of the window in minutes."""

class ReasoningEffortOption(TypedDict):
    """A reasoning effort that can be chosen."""
    description: str
    """Description for people."""
    reasoningEffort: str
    """The reasoning effort."""

class ReasoningItem(TypedDict):
    """Reasoning of the model, as far as the provider reveals it."""
    id: str
    """Id of the item."""
    startedAtMs: NotRequired[Union[int, None]]
    """Start time in Unix milliseconds."""
    completedAtMs: NotRequired[Union[int, None]]
    """End time in Unix milliseconds."""
    content: NotRequired[list[str]]
    """The parts of the reasoning."""
    summary: NotRequired[list[str]]
    """The parts of the summary."""

ReasoningSummary = Union[Literal['auto'], Literal['concise'], Literal['detailed'], Literal['none']]
"""How the model summarizes its reasoning."""

class ReasoningSummaryPartAddedNotification(TypedDict):
    """Params of the notification `item/reasoning/summaryPartAdded`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""
    itemId: str
    """Id of the item."""
    summaryIndex: int
    """Index of the part of the summary."""

class ReasoningSummaryTextDeltaNotification(TypedDict):
    """Params of the notification `item/reasoning/summaryTextDelta`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""
    itemId: str
    """Id of the item."""
    delta: str
    """Text to append."""
    summaryIndex: int
    """Index of the part of the summary."""

class ReasoningTextDeltaNotification(TypedDict):
    """Params of the notification `item/reasoning/textDelta`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""
    itemId: str
    """Id of the item."""
    contentIndex: int
    """Index of the part of the content."""
    delta: str
    """Text to append."""

RemoteControlConnectionStatus = Union[Literal['disabled'], Literal['connecting'], Literal['connected'], Literal['errored']]
"""Status of remote control of the server."""

class RemoteControlStatusChangedNotification(TypedDict):
    """Params of the notification `remoteControl/status/changed`."""
    installationId: str
    """Id of this installation."""
    serverName: str
    """Name of this machine."""
    status: 'RemoteControlConnectionStatus'
    """The status."""
    environmentId: NotRequired[Union[str, None]]
    """Id of the environment that is controlled."""

RequestId = Union[int, str]
"""The id of a request. The sender of the request chooses it, and the response repeats it exactly."""

class RequestPermissionProfile(TypedDict):
    """Permissions that the model requests."""
    fileSystem: 'NotRequired[Union[AdditionalFileSystemPermissions, None]]'
    """Permissions for files."""
    network: 'NotRequired[Union[AdditionalNetworkPermissions, None]]'
    """Permissions for the network."""

class Resource(TypedDict):
    """A resource of an MCP server."""
    name: str
    """Name of the resource."""
    uri: str
    """URI of the resource."""
    _meta: NotRequired[Any]
    """Metadata of the MCP server."""
    annotations: NotRequired[Any]
    """Annotations of the MCP server."""
    description: NotRequired[Union[str, None]]
    """Description for people."""
    icons: NotRequired[Union[list[Any], None]]
    """Icons."""
    mimeType: NotRequired[Union[str, None]]
    """Its MIME type."""
    size: NotRequired[Union[int, None]]
    """Size in bytes."""
    title: NotRequired[Union[str, None]]
    """The title."""

class ResourceContent1(TypedDict):
    """A text."""
    text: str
    """The text."""
    uri: str
    """Address of the content."""
    mimeType: NotRequired[Union[str, None]]
    """Its MIME type."""
    _meta: NotRequired[Any]
    """Metadata of the MCP server."""

class ResourceContent2(TypedDict):
    """Bytes."""
    blob: str
    """The bytes in base64."""
    uri: str
    """Address of the content."""
    mimeType: NotRequired[Union[str, None]]
    """Its MIME type."""
    _meta: NotRequired[Any]
    """Metadata of the MCP server."""

ResourceContent = Union["ResourceContent1", "ResourceContent2"]
"""A content of a resource."""

class ResourceTemplate(TypedDict):
    """A template of resources of an MCP server."""
    name: str
    """Name of the template."""
    uriTemplate: str
    """The URI template."""
    annotations: NotRequired[Any]
    """Annotations of the MCP server."""
    description: NotRequired[Union[str, None]]
    """Description for people."""
    mimeType: NotRequired[Union[str, None]]
    """Its MIME type."""
    title: NotRequired[Union[str, None]]
    """The title."""

class Response(TypedDict):
    id: 'RequestId'
    result: Any

class ReviewDecision2ApprovedExecpolicyAmendment(TypedDict):
    proposed_execpolicy_amendment: list[str]
    """First words of the commands that the rule allows."""

class ReviewDecision2(TypedDict):
    """Yes, and from now on allow commands that begin with these words."""
    approved_execpolicy_amendment: 'ReviewDecision2ApprovedExecpolicyAmendment'

class ReviewDecision5NetworkPolicyAmendment(TypedDict):
    network_policy_amendment: 'NetworkPolicyAmendment'
    """The rule."""

class ReviewDecision5(TypedDict):
    """Yes, and apply a rule about the host."""
    network_policy_amendment: 'ReviewDecision5NetworkPolicyAmendment'

class ReviewDecision6Denied(TypedDict):
    rejection: str
    """Reason of the user."""

class ReviewDecision6(TypedDict):
    """No."""
    denied: 'ReviewDecision6Denied'

ReviewDecision = Union[Literal['approved'], "ReviewDecision2", Literal['approved_for_session'], Literal['approved_mcp_policy_amendment'], "ReviewDecision5", "ReviewDecision6", Literal['timed_out'], Literal['abort']]
"""Decision about an older approval request."""

ReviewDelivery = Literal['inline']
"""In the thread itself."""

class ReviewStartParams(TypedDict):
    """Params of `review/start`."""
    threadId: str
    """Id of the thread."""
    target: 'ReviewTarget'
    """What is reviewed."""
    delivery: 'NotRequired[Union[ReviewDelivery, None]]'
    """Where the review takes place. In the thread itself if absent."""

class ReviewStartResponse(TypedDict):
    """Result of `review/start`."""
    reviewThreadId: str
    """Id of the thread in which the review takes place."""
    turn: 'Turn'
    """The turn."""

class ReviewTargetUncommittedChanges(TypedDict):
    """Changes that are not committed."""
    type: Literal['uncommittedChanges']

class ReviewTargetBaseBranch(TypedDict):
    """The changes of the current branch relative to another one."""
    type: Literal['baseBranch']
    branch: str
    """The branch to compare with."""

class ReviewTargetCommit(TypedDict):
    """The changes of a commit."""
    type: Literal['commit']
    sha: str
    """Hash of the commit."""
    title: NotRequired[Union[str, None]]
    """The title."""

class ReviewTargetCustom(TypedDict):
    """Something that a text describes."""
    type: Literal['custom']
    instructions: str
    """Instructions for the reviewer."""

ReviewTarget = Union["ReviewTargetUncommittedChanges", "ReviewTargetBaseBranch", "ReviewTargetCommit", "ReviewTargetCustom"]
"""What is reviewed."""

class RpcError(TypedDict):
    """The error of an error response."""
    code: int
    """One of the codes of this module. Other servers may use other codes."""
    message: str
    """Error message for people."""
    data: NotRequired[Any]
    """Details for programs."""

SandboxMode = Union[Literal['read-only'], Literal['workspace-write'], Literal['danger-full-access']]
"""Name of a sandbox policy."""

class SandboxPolicyDangerFullAccess(TypedDict):
    """Commands are not limited."""
    type: Literal['dangerFullAccess']

class SandboxPolicyReadOnly(TypedDict):
    """Commands may read files."""
    type: Literal['readOnly']
    networkAccess: NotRequired[bool]
    """Whether commands may use the network."""

class SandboxPolicyExternalSandbox(TypedDict):
    """A sandbox around the server limits the commands."""
    type: Literal['externalSandbox']
    networkAccess: 'NotRequired[NetworkAccess]'
    """Whether commands may use the network."""

class SandboxPolicyWorkspaceWrite(TypedDict):
    """Commands may read files, and write in the workspace."""
    type: Literal['workspaceWrite']
    excludeSlashTmp: NotRequired[bool]
    """Whether `/tmp` is not writable."""
    excludeTmpdirEnvVar: NotRequired[bool]
    """Whether the directory in `TMPDIR` is not writable."""
    networkAccess: NotRequired[bool]
    """Whether commands may use the network."""
    writableRoots: 'NotRequired[list[AbsolutePath]]'
    """Writable directories in addition to the working directory."""

SandboxPolicy = Union["SandboxPolicyDangerFullAccess", "SandboxPolicyReadOnly", "SandboxPolicyExternalSandbox", "SandboxPolicyWorkspaceWrite"]
"""What commands of the model may do."""

class ServerNotificationError(TypedDict):
    method: Literal['error']
    params: 'ErrorNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationThreadStarted(TypedDict):
    method: Literal['thread/started']
    params: 'ThreadStartedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationThreadStatusChanged(TypedDict):
    method: Literal['thread/status/changed']
    params: 'ThreadStatusChangedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationThreadArchived(TypedDict):
    method: Literal['thread/archived']
    params: 'ThreadArchivedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationThreadDeleted(TypedDict):
    method: Literal['thread/deleted']
    params: 'ThreadDeletedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationThreadUnarchived(TypedDict):
    method: Literal['thread/unarchived']
    params: 'ThreadUnarchivedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationThreadClosed(TypedDict):
    method: Literal['thread/closed']
    params: 'ThreadClosedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationThreadReverted(TypedDict):
    method: Literal['thread/reverted']
    params: 'ThreadRevertedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationSkillsChanged(TypedDict):
    method: Literal['skills/changed']
    params: 'SkillsChangedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationThreadNameUpdated(TypedDict):
    method: Literal['thread/name/updated']
    params: 'ThreadNameUpdatedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationThreadGoalUpdated(TypedDict):
    method: Literal['thread/goal/updated']
    params: 'ThreadGoalUpdatedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationThreadGoalCleared(TypedDict):
    method: Literal['thread/goal/cleared']
    params: 'ThreadGoalClearedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationThreadQueueChanged(TypedDict):
    method: Literal['thread/queue/changed']
    params: 'ThreadQueueChangedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationThreadTokenUsageUpdated(TypedDict):
    method: Literal['thread/tokenUsage/updated']
    params: 'ThreadTokenUsageUpdatedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationTurnStarted(TypedDict):
    method: Literal['turn/started']
    params: 'TurnStartedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationHookStarted(TypedDict):
    method: Literal['hook/started']
    params: 'HookStartedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationTurnCompleted(TypedDict):
    method: Literal['turn/completed']
    params: 'TurnCompletedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationHookCompleted(TypedDict):
    method: Literal['hook/completed']
    params: 'HookCompletedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationTurnDiffUpdated(TypedDict):
    method: Literal['turn/diff/updated']
    params: 'TurnDiffUpdatedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationTurnPlanUpdated(TypedDict):
    method: Literal['turn/plan/updated']
    params: 'TurnPlanUpdatedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationItemStarted(TypedDict):
    method: Literal['item/started']
    params: 'ItemStartedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationItemCompleted(TypedDict):
    method: Literal['item/completed']
    params: 'ItemCompletedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationItemAgentMessageDelta(TypedDict):
    method: Literal['item/agentMessage/delta']
    params: 'AgentMessageDeltaNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationItemPlanDelta(TypedDict):
    method: Literal['item/plan/delta']
    params: 'PlanDeltaNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationCommandExecOutputDelta(TypedDict):
    method: Literal['command/exec/outputDelta']
    params: 'CommandExecOutputDeltaNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationProcessOutputDelta(TypedDict):
    method: Literal['process/outputDelta']
    params: 'ProcessOutputDeltaNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationProcessExited(TypedDict):
    method: Literal['process/exited']
    params: 'ProcessExitedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationItemCommandExecutionOutputDelta(TypedDict):
    method: Literal['item/commandExecution/outputDelta']
    params: 'CommandExecutionOutputDeltaNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationItemCommandExecutionTerminalInteraction(TypedDict):
    method: Literal['item/commandExecution/terminalInteraction']
    params: 'TerminalInteractionNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationItemFileChangeOutputDelta(TypedDict):
    method: Literal['item/fileChange/outputDelta']
    params: 'FileChangeOutputDeltaNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationItemFileChangePatchUpdated(TypedDict):
    method: Literal['item/fileChange/patchUpdated']
    params: 'FileChangePatchUpdatedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationServerRequestResolved(TypedDict):
    method: Literal['serverRequest/resolved']
    params: 'ServerRequestResolvedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationItemMcpToolCallProgress(TypedDict):
    method: Literal['item/mcpToolCall/progress']
    params: 'McpToolCallProgressNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationMcpServerStartupStatusUpdated(TypedDict):
    method: Literal['mcpServer/startupStatus/updated']
    params: 'McpServerStatusUpdatedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationMcpServerOauthLoginCompleted(TypedDict):
    method: Literal['mcpServer/oauthLogin/completed']
    params: 'McpServerOauthLoginCompletedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationAccountLoginCompleted(TypedDict):
    method: Literal['account/login/completed']
    params: 'AccountLoginCompletedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationAccountUpdated(TypedDict):
    method: Literal['account/updated']
    params: 'AccountUpdatedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationAccountRateLimitsUpdated(TypedDict):
    method: Literal['account/rateLimits/updated']
    params: 'AccountRateLimitsUpdatedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationRemoteControlStatusChanged(TypedDict):
    method: Literal['remoteControl/status/changed']
    params: 'RemoteControlStatusChangedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationFsChanged(TypedDict):
    method: Literal['fs/changed']
    params: 'FsChangedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationItemReasoningSummaryTextDelta(TypedDict):
    method: Literal['item/reasoning/summaryTextDelta']
    params: 'ReasoningSummaryTextDeltaNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationItemReasoningSummaryPartAdded(TypedDict):
    method: Literal['item/reasoning/summaryPartAdded']
    params: 'ReasoningSummaryPartAddedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationItemReasoningTextDelta(TypedDict):
    method: Literal['item/reasoning/textDelta']
    params: 'ReasoningTextDeltaNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationThreadCompacted(TypedDict):
    method: Literal['thread/compacted']
    params: 'ContextCompactedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationModelRerouted(TypedDict):
    method: Literal['model/rerouted']
    params: 'ModelReroutedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationWarning(TypedDict):
    method: Literal['warning']
    params: 'WarningNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationDeprecationNotice(TypedDict):
    method: Literal['deprecationNotice']
    params: 'DeprecationNoticeNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationConfigWarning(TypedDict):
    method: Literal['configWarning']
    params: 'ConfigWarningNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationFuzzyFileSearchSessionUpdated(TypedDict):
    method: Literal['fuzzyFileSearch/sessionUpdated']
    params: 'FuzzyFileSearchSessionUpdatedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

class ServerNotificationFuzzyFileSearchSessionCompleted(TypedDict):
    method: Literal['fuzzyFileSearch/sessionCompleted']
    params: 'FuzzyFileSearchSessionCompletedNotification'
    emittedAtMs: NotRequired[int]
    """When it was sent, in Unix milliseconds."""

ServerNotification = Union["ServerNotificationError", "ServerNotificationThreadStarted", "ServerNotificationThreadStatusChanged", "ServerNotificationThreadArchived", "ServerNotificationThreadDeleted", "ServerNotificationThreadUnarchived", "ServerNotificationThreadClosed", "ServerNotificationThreadReverted", "ServerNotificationSkillsChanged", "ServerNotificationThreadNameUpdated", "ServerNotificationThreadGoalUpdated", "ServerNotificationThreadGoalCleared", "ServerNotificationThreadQueueChanged", "ServerNotificationThreadTokenUsageUpdated", "ServerNotificationTurnStarted", "ServerNotificationHookStarted", "ServerNotificationTurnCompleted", "ServerNotificationHookCompleted", "ServerNotificationTurnDiffUpdated", "ServerNotificationTurnPlanUpdated", "ServerNotificationItemStarted", "ServerNotificationItemCompleted", "ServerNotificationItemAgentMessageDelta", "ServerNotificationItemPlanDelta", "ServerNotificationCommandExecOutputDelta", "ServerNotificationProcessOutputDelta", "ServerNotificationProcessExited", "ServerNotificationItemCommandExecutionOutputDelta", "ServerNotificationItemCommandExecutionTerminalInteraction", "ServerNotificationItemFileChangeOutputDelta", "ServerNotificationItemFileChangePatchUpdated", "ServerNotificationServerRequestResolved", "ServerNotificationItemMcpToolCallProgress", "ServerNotificationMcpServerStartupStatusUpdated", "ServerNotificationMcpServerOauthLoginCompleted", "ServerNotificationAccountLoginCompleted", "ServerNotificationAccountUpdated", "ServerNotificationAccountRateLimitsUpdated", "ServerNotificationRemoteControlStatusChanged", "ServerNotificationFsChanged", "ServerNotificationItemReasoningSummaryTextDelta", "ServerNotificationItemReasoningSummaryPartAdded", "ServerNotificationItemReasoningTextDelta", "ServerNotificationThreadCompacted", "ServerNotificationModelRerouted", "ServerNotificationWarning", "ServerNotificationDeprecationNotice", "ServerNotificationConfigWarning", "ServerNotificationFuzzyFileSearchSessionUpdated", "ServerNotificationFuzzyFileSearchSessionCompleted"]

class ServerRequestItemCommandExecutionRequestApproval(TypedDict):
    id: 'RequestId'
    method: Literal['item/commandExecution/requestApproval']
    params: 'CommandExecutionRequestApprovalParams'

class ServerRequestItemFileChangeRequestApproval(TypedDict):
    id: 'RequestId'
    method: Literal['item/fileChange/requestApproval']
    params: 'FileChangeRequestApprovalParams'

class ServerRequestItemToolRequestUserInput(TypedDict):
    id: 'RequestId'
    method: Literal['item/tool/requestUserInput']
    params: 'ToolRequestUserInputParams'

class ServerRequestMcpServerElicitationRequest(TypedDict):
    id: 'RequestId'
    method: Literal['mcpServer/elicitation/request']
    params: 'McpServerElicitationRequestParams'

class ServerRequestItemPermissionsRequestApproval(TypedDict):
    id: 'RequestId'
    method: Literal['item/permissions/requestApproval']
    params: 'PermissionsRequestApprovalParams'

class ServerRequestItemToolCall(TypedDict):
    id: 'RequestId'
    method: Literal['item/tool/call']
    params: 'DynamicToolCallParams'

class ServerRequestAccountChatgptAuthTokensRefresh(TypedDict):
    id: 'RequestId'
    method: Literal['account/chatgptAuthTokens/refresh']
    params: 'ChatgptAuthTokensRefreshParams'

class ServerRequestAttestationGenerate(TypedDict):
    id: 'RequestId'
    method: Literal['attestation/generate']
    params: 'AttestationGenerateParams'

class ServerRequestApplyPatchApproval(TypedDict):
    id: 'RequestId'
    method: Literal['applyPatchApproval']
    params: 'ApplyPatchApprovalParams'

class ServerRequestExecCommandApproval(TypedDict):
    id: 'RequestId'
    method: Literal['execCommandApproval']
    params: 'ExecCommandApprovalParams'

ServerRequest = Union["ServerRequestItemCommandExecutionRequestApproval", "ServerRequestItemFileChangeRequestApproval", "ServerRequestItemToolRequestUserInput", "ServerRequestMcpServerElicitationRequest", "ServerRequestItemPermissionsRequestApproval", "ServerRequestItemToolCall", "ServerRequestAccountChatgptAuthTokensRefresh", "ServerRequestAttestationGenerate", "ServerRequestApplyPatchApproval", "ServerRequestExecCommandApproval"]

class ServerRequestResolvedNotification(TypedDict):
    """Params of the notification `serverRequest/resolved`."""
    threadId: str
    """Id of the thread."""
    requestId: 'RequestId'
    """Id of the request."""

class SessionSource6(TypedDict):
    """Another source, with its own name."""
    custom: str

class SessionSource7(TypedDict):
    """Another thread."""
    subAgent: 'SubAgentSource'

SessionSource = Union[Literal['cli'], Literal['vscode'], Literal['exec'], Literal['appServer'], Literal['unknown'], "SessionSource6", "SessionSource7"]
"""What started a thread."""

class Settings(TypedDict):
    """Settings of a collaboration mode."""
    model: str
    """Name of the model."""
    developer_instructions: NotRequired[Union[str, None]]
    """Developer instructions for the model. `null` for the default text of the mode."""
    reasoning_effort: NotRequired[Union[str, None]]
    """Reasoning effort of the model."""

class SkillDependencies(TypedDict):
    """Dependencies of a skill."""
    tools: 'list[SkillToolDependency]'
    """The tools."""

class SkillErrorInfo(TypedDict):
    """An error of reading a skill."""
    message: str
    """The message for people."""
    path: str
    """Path of the skill."""

class SkillInterface(TypedDict):
    """Appearance of a skill."""
    brandColor: NotRequired[Union[str, None]]
    """Its colour."""
    defaultPrompt: NotRequired[Union[str, None]]
    """A first prompt that uses the skill."""
    displayName: NotRequired[Union[str, None]]
    """Display name."""
    iconLarge: 'NotRequired[Union[AbsolutePath, None]]'
    """File with a large icon."""
    iconLargeUrl: NotRequired[Union[str, None]]
    """URL of a large icon."""
    iconSmall: 'NotRequired[Union[AbsolutePath, None]]'
    """File with a small icon."""
    iconSmallUrl: NotRequired[Union[str, None]]
    """URL of a small icon."""
    shortDescription: NotRequired[Union[str, None]]
    """Short description."""

class SkillMetadata(TypedDict):
    """A skill."""
    description: str
    """Description for people."""
    enabled: bool
    """Whether it is enabled."""
    name: str
    """Name of the skill."""
    path: str
    """Path of the skill."""
    scope: 'SkillScope'
    """Where it is installed."""
    dependencies: 'NotRequired[Union[SkillDependencies, None]]'
    """Its dependencies."""
    interface: 'NotRequired[Union[SkillInterface, None]]'
    """Its appearance."""
    pluginId: NotRequired[Union[str, None]]
    """Id of the plugin that it belongs to."""
    shortDescription: NotRequired[Union[str, None]]
    """Short description."""

SkillScope = Union[Literal['user'], Literal['repo'], Literal['system'], Literal['admin']]
"""Where a skill is installed, and thus whom it applies to."""

class SkillToolDependency(TypedDict):
    """A tool that a skill needs."""
    type: str
    """Kind of the dependency."""
    value: str
    """Identifies the tool, depending on the kind."""
    command: NotRequired[Union[str, None]]
    """The command as a shell command line."""
    description: NotRequired[Union[str, None]]
    """Description for people."""
    transport: NotRequired[Union[str, None]]
    """Transport of the MCP server."""
    url: NotRequired[Union[str, None]]
    """The URL."""

SkillsChangedNotification = dict[str, Any]
"""Params of the notification `skills/changed`."""

class SkillsListEntry(TypedDict):
    """The skills of one directory."""
    cwd: str
    """The working directory."""
    errors: 'list[SkillErrorInfo]'
    """Errors of reading."""
    skills: 'list[SkillMetadata]'
    """The skills."""

class SkillsListParams(TypedDict):
    """Params of `skills/list`."""
    cwds: NotRequired[list[str]]
    """Working directories. If empty, the working directory of the server."""
    forceReload: NotRequired[bool]
    """Whether files are read again instead of using a cache."""

class SkillsListResponse(TypedDict):
    """Result of `skills/list`."""
    data: 'list[SkillsListEntry]'
    """The requested entries."""

class SleepItem(TypedDict):
    """A pause that the model made."""
    id: str
    """Id of the item."""
    durationMs: int
    """Duration in milliseconds."""
    startedAtMs: NotRequired[Union[int, None]]
    """Start time in Unix milliseconds."""
    completedAtMs: NotRequired[Union[int, None]]
    """End time in Unix milliseconds."""

SortDirection = Union[Literal['asc'], Literal['desc']]
"""Order of a list."""

class SpendControlLimitSnapshot(TypedDict):
    """Usage of a spending limit."""
    limit: str
    """The limit, as a decimal number."""
    remainingPercent: int
    """Remaining share of the limit, in percent."""
    resetsAt: int
    """Time of the next reset in Unix seconds."""
    used: str
    """Amount used, as a decimal number."""

class SubAgentActivityItem(TypedDict):
    """An activity of a child agent of this thread."""
    id: str
    """Id of the item."""
    agentPath: str
    """Path of the agent in the tree."""
    agentThreadId: str
    """Id of the agent's thread."""
    kind: 'SubAgentActivityKind'
    """What happened."""
    startedAtMs: NotRequired[Union[int, None]]
    """Start time in Unix milliseconds."""
    completedAtMs: NotRequired[Union[int, None]]
    """End time in Unix milliseconds."""
    model: NotRequired[Union[str, None]]
    """Name of the model."""
    reasoningEffort: NotRequired[Union[str, None]]
    """Reasoning effort of the model."""

SubAgentActivityKind = Union[Literal['started'], Literal['interacted'], Literal['interrupted'], Literal['completed']]
"""What happened to an agent."""

class SubAgentSource4ThreadSpawn(TypedDict):
    depth: int
    """Depth of the agent in the tree. Children of the root agent have depth 1."""
    parent_thread_id: str
    """Id of the parent's thread."""
    agent_nickname: NotRequired[Union[str, None]]
    """Nickname of the agent."""
    agent_path: NotRequired[Union[str, None]]
    """Path of the agent in the tree."""
    agent_role: NotRequired[Union[str, None]]
    """The role of the agent."""

class SubAgentSource4(TypedDict):
    """An agent was spawned."""
    thread_spawn: 'SubAgentSource4ThreadSpawn'

class SubAgentSource5(TypedDict):
    """Another source, with its own name."""
    other: str

SubAgentSource = Union[Literal['review'], Literal['compact'], Literal['memory_consolidation'], "SubAgentSource4", "SubAgentSource5"]
"""What started a thread that no client started."""

class TerminalInteractionNotification(TypedDict):
    """Params of the notification `item/commandExecution/terminalInteraction`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""
    itemId: str
    """Id of the item."""
    processId: str
    """Id that the server gave to the process."""
    stdin: str
    """The written input."""

class TextElement(TypedDict):
    """A part of a text that a client displays in its own way."""
    byteRange: 'ByteRange'
    """The part of the text."""
    placeholder: NotRequired[Union[str, None]]
    """The text that is displayed instead."""

class TextPosition(TypedDict):
    """A position in a text file."""
    column: int
    """Column, counted from 1."""
    line: int
    """Line, counted from 1."""

class TextRange(TypedDict):
    """A range in a text file."""
    end: 'TextPosition'
    """End of the range."""
    start: 'TextPosition'
    """Start of the range."""

class Thread(TypedDict):
    """A thread with its turns."""
    id: str
    """Id of the thread."""
    cliVersion: str
    """Version of the program that created the thread."""
    createdAt: int
    """Creation time in Unix seconds."""
    cwd: 'AbsolutePath'
    """The working directory."""
    ephemeral: bool
    """Whether the thread is never stored in a file."""
    modelProvider: str
    """Id of the model provider."""
    preview: str
    """Beginning of the first input of the user."""
    projectId: NotRequired[Union[str, None]]
    """Id of the project that it belongs to. `null` if there is none."""
    sessionId: str
    """Id of the root thread of the tree."""
    source: 'SessionSource'
    """What started the thread."""
    status: 'ThreadStatus'
    """The status."""
    turns: 'list[Turn]'
    """The turns, oldest first. Empty unless they were requested."""
    updatedAt: int
    """Time of the last change in Unix seconds."""
    agentNickname: NotRequired[Union[str, None]]
    """Nickname of the thread's agent. `null` if no agent spawned the thread."""
    agentRole: NotRequired[Union[str, None]]
    """The role of the thread's agent."""
    forkedFromId: NotRequired[Union[str, None]]
    """Id of the thread that this one was forked from."""
    gitInfo: 'NotRequired[Union[GitInfo, None]]'
    """The Git repository that it works in. `null` if there is none."""
    historyMode: 'NotRequired[ThreadHistoryMode]'
    """How the history is stored."""
    model: NotRequired[Union[str, None]]
    """Name of the model, if it is known."""
    name: NotRequired[Union[str, None]]
    """Title that the user gave. `null` if there is none."""
    originator: NotRequired[Union[str, None]]
    """Name of the client that created it."""
    parentThreadId: NotRequired[Union[str, None]]
    """Id of the parent's thread."""
    path: NotRequired[Union[str, None]]
    """Path of the file in which it is stored. `null` if it is never stored."""
    reasoningEffort: NotRequired[Union[str, None]]
    """Reasoning effort of the model."""
    recencyAt: NotRequired[Union[int, None]]
    """Time of the last activity that matters to the user, in Unix seconds."""
    section: 'NotRequired[Union[ThreadSection, None]]'
    """Section that contains the thread."""
    sectionEnteredAt: NotRequired[Union[int, None]]
    """Time when it was put into the section, in Unix seconds."""
    threadSource: NotRequired[Union[str, None]]
    """Purpose of the thread in the words of the client."""

ThreadActiveFlag = Union[Literal['waitingOnApproval'], Literal['waitingOnUserInput']]
"""What an active thread waits for."""

class ThreadArchiveParams(TypedDict):
    """Params of `thread/archive`."""
    threadId: str
    """Id of the thread."""

ThreadArchiveResponse = dict[str, Any]
"""Result of `thread/archive`."""

class ThreadArchivedNotification(TypedDict):
    """Params of the notification `thread/archived`."""
    threadId: str
    """Id of the thread."""

class ThreadClosedNotification(TypedDict):
    """Params of the notification `thread/closed`."""
    threadId: str
    """Id of the thread."""

class ThreadCompactStartParams(TypedDict):
    """Params of `thread/compact/start`."""
    threadId: str
    """Id of the thread."""

ThreadCompactStartResponse = dict[str, Any]
"""Result of `thread/compact/start`."""

class ThreadDeleteParams(TypedDict):
    """Params of `thread/delete`."""
    threadId: str
    """Id of the thread."""

ThreadDeleteResponse = dict[str, Any]
"""Result of `thread/delete`."""

class ThreadDeletedNotification(TypedDict):
    """Params of the notification `thread/deleted`."""
    threadId: str
    """Id of the thread."""

class ThreadForkParams(TypedDict):
    """Params of `thread/fork`."""
    threadId: str
    """Id of the thread."""
    approvalPolicy: 'NotRequired[Union[AskForApproval, None]]'
    """When the user is asked for approval."""
    approvalsReviewer: 'NotRequired[Union[ApprovalsReviewer, None]]'
    """Who answers approval requests."""
    baseInstructions: NotRequired[Union[str, None]]
    """Base instructions for the model, which replace the default ones."""
    config: NotRequired[Union[dict[str, Any], None]]
    """Settings for this thread only, by dotted key."""
    cwd: NotRequired[Union[str, None]]
    """The working directory."""
    developerInstructions: NotRequired[Union[str, None]]
    """Developer instructions for the model, in addition to the base instructions."""
    ephemeral: NotRequired[bool]
    """Whether the thread is never stored in a file."""
    excludeTurns: NotRequired[bool]
    """Whether the response leaves out the turns."""
    lastTurnId: NotRequired[Union[str, None]]
    """Id of the last turn that is copied. All turns are copied if it is absent."""
    model: NotRequired[Union[str, None]]
    """Name of the model."""
    modelProvider: NotRequired[Union[str, None]]
    """Id of the model provider."""
    sandbox: 'NotRequired[Union[SandboxMode, None]]'
    """Sandbox mode for commands of the model."""
    serviceTier: NotRequired[Union[str, None]]
    """Service tier of the model provider."""
    threadSource: NotRequired[Union[str, None]]
    """Purpose of the thread in the words of the client."""

class ThreadForkResponse(TypedDict):
    """Result of `thread/fork`."""
    approvalPolicy: 'AskForApproval'
    """When the user is asked for approval."""
    approvalsReviewer: 'ApprovalsReviewer'
    """Who answers approval requests."""
    cwd: 'AbsolutePath'
    """The working directory."""
    model: str
    """Name of the model."""
    modelProvider: str
    """Id of the model provider."""
    sandbox: 'SandboxPolicy'
    """Sandbox policy for commands of the model."""
    thread: 'Thread'
    """The thread."""
    disabledPluginIds: NotRequired[list[str]]
    """Ids of the plugins that are disabled for the thread."""
    instructionSources: NotRequired[list[str]]
    """Files from which instructions were read."""
    reasoningEffort: NotRequired[Union[str, None]]
    """Reasoning effort of the model."""
    serviceTier: NotRequired[Union[str, None]]
    """Service tier of the model provider."""

class ThreadGoal(TypedDict):
    """The goal of a thread."""
    threadId: str
    """Id of the thread."""
    createdAt: int
    """Creation time in Unix seconds."""
    objective: str
    """The objective."""
    status: 'ThreadGoalStatus'
    """The status."""
    timeUsedSeconds: int
    """Time that was spent on it, in seconds."""
    tokensUsed: int
    """Number of tokens that were used for it."""
    updatedAt: int
    """Time of the last change in Unix seconds."""
    tokenBudget: NotRequired[Union[int, None]]
    """Most tokens that may be used for it. `null` for no limit."""

class ThreadGoalClearParams(TypedDict):
    """Params of `thread/goal/clear`."""
    threadId: str
    """Id of the thread."""
    origin: 'NotRequired[Union[ThreadGoalMutationOrigin, None]]'
    """Who makes the change."""

class ThreadGoalClearResponse(TypedDict):
    """Result of `thread/goal/clear`."""
    cleared: bool
    """Whether there was a goal."""

class ThreadGoalClearedNotification(TypedDict):
    """Params of the notification `thread/goal/cleared`."""
    threadId: str
    """Id of the thread."""

class ThreadGoalGetParams(TypedDict):
    """Params of `thread/goal/get`."""
    threadId: str
    """Id of the thread."""

class ThreadGoalGetResponse(TypedDict):
    """Result of `thread/goal/get`."""
    goal: 'NotRequired[Union[ThreadGoal, None]]'
    """The goal. `null` if there is none."""

ThreadGoalMutationOrigin = Union[Literal['user'], Literal['automatic']]
"""Who changed a goal."""

class ThreadGoalSetParams(TypedDict):
    """Params of `thread/goal/set`."""
    threadId: str
    """Id of the thread."""
    objective: NotRequired[Union[str, None]]
    """The objective."""
    origin: 'NotRequired[Union[ThreadGoalMutationOrigin, None]]'
    """Who makes the change."""
    status: 'NotRequired[Union[ThreadGoalStatus, None]]'
    """The status."""
    tokenBudget: NotRequired[Union[int, None]]
    """Most tokens that may be used for it. `null` for no limit."""

class ThreadGoalSetResponse(TypedDict):
    """Result of `thread/goal/set`."""
    goal: 'ThreadGoal'
    """The goal."""

ThreadGoalStatus = Union[Literal['active'], Literal['paused'], Literal['blocked'], Literal['usageLimited'], Literal['budgetLimited'], Literal['complete']]
"""Status of a goal."""

class ThreadGoalUpdatedNotification(TypedDict):
    """Params of the notification `thread/goal/updated`."""
    threadId: str
    """Id of the thread."""
    goal: 'ThreadGoal'
    """The goal."""
    turnId: NotRequired[Union[str, None]]
    """Id of the turn."""

ThreadHistoryMode = Union[Literal['legacy'], Literal['paginated']]
"""How a thread's history is stored, which decides how it can be read."""

class ThreadInjectItemsParams(TypedDict):
    """Params of `thread/inject_items`."""
    threadId: str
    """Id of the thread."""
    items: list[Any]
    """The items in the form of the model provider's API."""

ThreadInjectItemsResponse = dict[str, Any]
"""Result of `thread/inject_items`."""

class UserMessageItem(TypedDict):
    """Input of the user."""
    id: str
    """Id of the item."""
    content: 'list[UserInput]'
    """The parts of the input."""
    startedAtMs: NotRequired[Union[int, None]]
    """Start time in Unix milliseconds."""
    clientId: NotRequired[Union[str, None]]
    """Id that the client gave to the message."""
    completedAtMs: NotRequired[Union[int, None]]
    """End time in Unix milliseconds."""

class ThreadItemUserMessage(UserMessageItem):
    """A message of the user."""
    type: Literal['userMessage']

class ThreadItemHookPrompt(HookPromptItem):
    """Texts of hooks."""
    type: Literal['hookPrompt']

class ThreadItemAgentMessage(AgentMessageItem):
    """A message of the model."""
    type: Literal['agentMessage']

class ThreadItemFunctionCallOutput(FunctionCallOutputItem):
    """The output of a function without an item type of its own."""
    type: Literal['functionCallOutput']

class ThreadItemPlan(PlanItem):
    """A plan."""
    type: Literal['plan']

class ThreadItemReasoning(ReasoningItem):
    """Reasoning of the model."""
    type: Literal['reasoning']

class ThreadItemCommandExecution(CommandExecutionItem):
    """A command."""
    type: Literal['commandExecution']

class ThreadItemFileChange(FileChangeItem):
    """A change of files."""
    type: Literal['fileChange']

class ThreadItemMcpToolCall(McpToolCallItem):
    """A call of a tool of an MCP server."""
    type: Literal['mcpToolCall']

class ThreadItemDynamicToolCall(DynamicToolCallItem):
    """A call of a tool that the client runs."""
    type: Literal['dynamicToolCall']

class ThreadItemCollabAgentToolCall(CollabAgentToolCallItem):
    """A call of a tool for the collaboration of agents."""
    type: Literal['collabAgentToolCall']

class ThreadItemSubAgentActivity(SubAgentActivityItem):
    """An activity of a child agent."""
    type: Literal['subAgentActivity']

class WebSearchItem(TypedDict):
    """A web search."""
    id: str
    """Id of the item."""
    query: str
    """The searched text."""
    startedAtMs: NotRequired[Union[int, None]]
    """Start time in Unix milliseconds."""
    action: 'NotRequired[Union[WebSearchAction, None]]'
    """The action, if it is known."""
    completedAtMs: NotRequired[Union[int, None]]
    """End time in Unix milliseconds."""
    results: NotRequired[Union[list[Any], None]]
    """The results."""

class ThreadItemWebSearch(WebSearchItem):
    """A web search."""
    type: Literal['webSearch']

class ThreadItemImageView(ImageViewItem):
    """The model views an image."""
    type: Literal['imageView']

class ThreadItemSleep(SleepItem):
    """A pause."""
    type: Literal['sleep']

class ThreadItemImageGeneration(TypedDict):
    """The model generates an image."""
    type: Literal['imageGeneration']

class ThreadItemEnteredReviewMode(EnteredReviewModeItem):
    """A review starts."""
    type: Literal['enteredReviewMode']

class ThreadItemExitedReviewMode(ExitedReviewModeItem):
    """A review ends."""
    type: Literal['exitedReviewMode']

class ThreadItemContextCompaction(ContextCompactionItem):
    """A compaction."""
    type: Literal['contextCompaction']

ThreadItem = Union["ThreadItemUserMessage", "ThreadItemHookPrompt", "ThreadItemAgentMessage", "ThreadItemFunctionCallOutput", "ThreadItemPlan", "ThreadItemReasoning", "ThreadItemCommandExecution", "ThreadItemFileChange", "ThreadItemMcpToolCall", "ThreadItemDynamicToolCall", "ThreadItemCollabAgentToolCall", "ThreadItemSubAgentActivity", "ThreadItemWebSearch", "ThreadItemImageView", "ThreadItemSleep", "ThreadItemImageGeneration", "ThreadItemEnteredReviewMode", "ThreadItemExitedReviewMode", "ThreadItemContextCompaction"]
"""An item of a turn."""

class ThreadItemEntry(TypedDict):
    """An item with its turn."""
    turnId: str
    """Id of the turn."""
    item: 'ThreadItem'
    """The item."""
    startedAtMs: NotRequired[Union[int, None]]
    """Start time in Unix milliseconds."""
    completedAtMs: NotRequired[Union[int, None]]
    """End time in Unix milliseconds."""

ThreadItemOutputDeferral = dict[str, Any]
"""Items of which large outputs are left out of a page."""

class ThreadItemsListAnchor(TypedDict):
    """An item by its id."""
    type: Literal['item']
    itemId: str
    """Id of the item."""

ThreadItemsListCursor = Union[str, "ThreadItemsListAnchor"]
"""Where a page of items starts."""

class ThreadItemsListParams(TypedDict):
    """Params of `thread/items/list`."""
    threadId: str
    """Id of the thread."""
    turnId: NotRequired[Union[str, None]]
    """Only items of this turn."""
    cursor: 'NotRequired[Union[ThreadItemsListCursor, None]]'
    """Where the page starts. Without it, at the beginning of the list."""
    deferOutput: 'NotRequired[Union[ThreadItemOutputDeferral, None]]'
    """Which large outputs are left out."""
    limit: NotRequired[Union[int, None]]
    """Most entries of a page."""
    sortDirection: 'NotRequired[Union[SortDirection, None]]'
    """Order of the entries."""

class ThreadItemsListResponse(TypedDict):
    """Result of `thread/items/list`."""
    data: 'list[ThreadItemEntry]'
    """The requested entries."""
    backwardsCursor: NotRequired[Union[str, None]]
    """Cursor for a list in the opposite direction, which returns entries that are newer than this page."""
    nextCursor: NotRequired[Union[str, None]]
    """Cursor of the next page. `null` on the last page."""

ThreadListCwdFilter = Union[str, list[str]]
"""One or several directories."""

class ThreadListParams(TypedDict):
    """Params of `thread/list`."""
    archived: NotRequired[Union[bool, None]]
    """Whether archived threads are listed instead of the others."""
    currentAccountOnly: NotRequired[bool]
    """Whether only threads of the logged-in account are listed."""
    cursor: NotRequired[Union[str, None]]
    """Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning."""
    cwd: 'NotRequired[Union[ThreadListCwdFilter, None]]'
    """Only threads with this working directory, or one of these."""
    excludedThreadIds: NotRequired[Union[list[str], None]]
    """Ids of threads that are left out."""
    limit: NotRequired[Union[int, None]]
    """Most entries of a page."""
    modelProviders: NotRequired[Union[list[str], None]]
    """Only threads with these model providers. All threads if it is empty."""
    originators: NotRequired[Union[list[str], None]]
    """Only threads that these clients created."""
    searchTerm: NotRequired[Union[str, None]]
    """Only threads with this text in the title."""
    sectionId: NotRequired[Union[str, None]]
    """Only threads of this section. `null` for threads without a section."""
    sortDirection: 'NotRequired[Union[SortDirection, None]]'
    """Order of the entries."""
    sortKey: 'NotRequired[Union[ThreadSortKey, None]]'
    """Sort key of the entries."""
    sourceKinds: 'NotRequired[Union[list[ThreadSourceKind], None]]'
    """Only threads from these sources. If empty, only threads that people started."""
    useStateDbOnly: NotRequired[bool]
    """Whether only the index is read, and not the files of the threads."""

class ThreadListResponse(TypedDict):
    """Result of `thread/list`."""
    data: 'list[Thread]'
    """The requested entries."""
    backwardsCursor: NotRequired[Union[str, None]]
    """Cursor for a list in the opposite direction, which returns entries that are newer than this page."""
    nextCursor: NotRequired[Union[str, None]]
    """Cursor of the next page. `null` on the last page."""

class ThreadLoadedListParams(TypedDict):
    """Params of `thread/loaded/list`."""
    cursor: NotRequired[Union[str, None]]
    """Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning."""
    limit: NotRequired[Union[int, None]]
    """Most entries of a page."""

class ThreadLoadedListResponse(TypedDict):
    """Result of `thread/loaded/list`."""
    data: list[str]
    """The requested entries."""
    nextCursor: NotRequired[Union[str, None]]
    """Cursor of the next page. `null` on the last page."""

class ThreadMetadataGitInfoUpdateParams(TypedDict):
    """Changes of the stored state of a thread's Git repository. An absent field is unchanged, `null` clears it."""
    branch: NotRequired[Union[str, None]]
    """Name of the branch."""
    originUrl: NotRequired[Union[str, None]]
    """URL of the repository's origin."""
    sha: NotRequired[Union[str, None]]
    """Hash of the commit."""

class ThreadMetadataUpdateParams(TypedDict):
    """Params of `thread/metadata/update`."""
    threadId: str
    """Id of the thread."""
    gitInfo: 'NotRequired[Union[ThreadMetadataGitInfoUpdateParams, None]]'
    """Changes of the stored state of the Git repository."""

class ThreadMetadataUpdateResponse(TypedDict):
    """Result of `thread/metadata/update`."""
    thread: 'Thread'
    """The thread."""

class ThreadNameUpdatedNotification(TypedDict):
    """Params of the notification `thread/name/updated`."""
    threadId: str
    """Id of the thread."""
    threadName: NotRequired[Union[str, None]]
    """The title. `null` if there is none."""

class ThreadQueueChangedNotification(TypedDict):
    """Params of the notification `thread/queue/changed`."""
    threadId: str
    """Id of the thread."""

class ThreadReadParams(TypedDict):
    """Params of `thread/read`."""
    threadId: str
    """Id of the thread."""
    includeTurns: NotRequired[bool]
    """Whether the response contains the turns."""

class ThreadReadResponse(TypedDict):
    """Result of `thread/read`."""
    thread: 'Thread'
    """The thread."""

class ThreadResumeParams(TypedDict):
    """Params of `thread/resume`."""
    threadId: str
    """Id of the thread."""
    approvalPolicy: 'NotRequired[Union[AskForApproval, None]]'
    """When the user is asked for approval."""
    approvalsReviewer: 'NotRequired[Union[ApprovalsReviewer, None]]'
    """Who answers approval requests."""
    baseInstructions: NotRequired[Union[str, None]]
    """Base instructions for the model, which replace the default ones."""
    config: NotRequired[Union[dict[str, Any], None]]
    """Settings for this thread only, by dotted key."""
    cwd: NotRequired[Union[str, None]]
    """The working directory."""
    developerInstructions: NotRequired[Union[str, None]]
    """Developer instructions for the model, in addition to the base instructions."""
    excludeTurns: NotRequired[bool]
    """Whether the response leaves out the turns."""
    model: NotRequired[Union[str, None]]
    """Name of the model."""
    modelProvider: NotRequired[Union[str, None]]
    """Id of the model provider."""
    personality: 'NotRequired[Union[Personality, None]]'
    """Personality of the model."""
    sandbox: 'NotRequired[Union[SandboxMode, None]]'
    """Sandbox mode for commands of the model."""
    serviceTier: NotRequired[Union[str, None]]
    """Service tier of the model provider."""

class ThreadResumeResponse(TypedDict):
    """Result of `thread/resume`."""
    approvalPolicy: 'AskForApproval'
    """When the user is asked for approval."""
    approvalsReviewer: 'ApprovalsReviewer'
    """Who answers approval requests."""
    cwd: 'AbsolutePath'
    """The working directory."""
    model: str
    """Name of the model."""
    modelProvider: str
    """Id of the model provider."""
    sandbox: 'SandboxPolicy'
    """Sandbox policy for commands of the model."""
    thread: 'Thread'
    """The thread."""
    collaborationMode: 'NotRequired[Union[CollaborationMode, None]]'
    """The collaboration mode."""
    disabledPluginIds: NotRequired[list[str]]
    """Ids of the plugins that are disabled for the thread."""
    instructionSources: NotRequired[list[str]]
    """Files from which instructions were read."""
    itemsBackwardsCursor: NotRequired[Union[str, None]]
    """Cursor to list the items backwards from the newest."""
    reasoningEffort: NotRequired[Union[str, None]]
    """Reasoning effort of the model."""
    serviceTier: NotRequired[Union[str, None]]
    """Service tier of the model provider."""
    turnsBackwardsCursor: NotRequired[Union[str, None]]
    """Cursor to list the turns backwards from the newest."""

class ThreadRevertParams(TypedDict):
    """Params of `thread/revert`."""
    threadId: str
    """Id of the thread."""
    beforeTurnId: str
    """Id of the first turn that is dropped."""

class ThreadRevertResponse(TypedDict):
    """Result of `thread/revert`."""
    thread: 'Thread'
    """The thread."""
    itemsBackwardsCursor: NotRequired[Union[str, None]]
    """Cursor to list the items backwards from the newest."""
    turnsBackwardsCursor: NotRequired[Union[str, None]]
    """Cursor to list the turns backwards from the newest."""

class ThreadRevertedNotification(TypedDict):
    """Params of the notification `thread/reverted`."""
    threadId: str
    """Id of the thread."""

class ThreadRollbackParams(TypedDict):
    """Params of `thread/rollback`, the predecessor of `thread/revert` that older clients call."""
    threadId: str
    """Id of the thread."""
    numTurns: int
    """Number of turns to drop from the end; at least one."""

class ThreadRollbackResponse(TypedDict):
    """Result of `thread/rollback`."""
    thread: 'Thread'
    """The thread with the remaining turns."""

class ThreadSection(TypedDict):
    """A group of threads that the user made."""
    id: str
    """Id of the section."""
    name: str
    """Name of the section."""
    appearance: 'NotRequired[Union[ThreadSectionAppearance, None]]'
    """Appearance."""

class ThreadSectionAppearance(TypedDict):
    """Appearance of a group of threads."""
    color: NotRequired[Union[str, None]]
    """Its colour."""
    icon: NotRequired[Union[str, None]]
    """Its icon."""

class ThreadSetNameParams(TypedDict):
    """Params of `thread/name/set`."""
    threadId: str
    """Id of the thread."""
    name: str
    """The new name."""

ThreadSetNameResponse = dict[str, Any]
"""Result of `thread/name/set`."""

class ThreadShellCommandParams(TypedDict):
    """Params of `thread/shellCommand`."""
    threadId: str
    """Id of the thread."""
    command: str
    """The command as a shell command line."""
    timeoutMs: NotRequired[Union[int, None]]
    """Timeout in milliseconds."""

ThreadShellCommandResponse = dict[str, Any]
"""Result of `thread/shellCommand`."""

ThreadSortKey = Union[Literal['created_at'], Literal['updated_at'], Literal['recency_at'], Literal['section_position']]
"""Sort keys of threads."""

ThreadSourceKind = Union[Literal['cli'], Literal['vscode'], Literal['exec'], Literal['appServer'], Literal['subAgent'], Literal['subAgentReview'], Literal['subAgentCompact'], Literal['subAgentThreadSpawn'], Literal['subAgentOther'], Literal['unknown']]
"""A kind of source of threads."""

class ThreadStartParams(TypedDict):
    """Params of `thread/start`."""
    approvalPolicy: 'NotRequired[Union[AskForApproval, None]]'
    """When the user is asked for approval."""
    approvalsReviewer: 'NotRequired[Union[ApprovalsReviewer, None]]'
    """Who answers approval requests."""
    baseInstructions: NotRequired[Union[str, None]]
    """Base instructions for the model, which replace the default ones."""
    config: NotRequired[Union[dict[str, Any], None]]
    """Settings for this thread only, by dotted key."""
    cwd: NotRequired[Union[str, None]]
    """The working directory."""
    developerInstructions: NotRequired[Union[str, None]]
    """Developer instructions for the model, in addition to the base instructions."""
    ephemeral: NotRequired[Union[bool, None]]
    """Whether the thread is never stored in a file."""
    model: NotRequired[Union[str, None]]
    """Name of the model."""
    modelProvider: NotRequired[Union[str, None]]
    """Id of the model provider."""
    personality: 'NotRequired[Union[Personality, None]]'
    """Personality of the model."""
    sandbox: 'NotRequired[Union[SandboxMode, None]]'
    """Sandbox mode for commands of the model."""
    serviceName: NotRequired[Union[str, None]]
    """Name of the service that the client belongs to."""
    serviceTier: NotRequired[Union[str, None]]
    """Service tier of the model provider."""
    sessionStartSource: 'NotRequired[Union[ThreadStartSource, None]]'
    """Why the client starts the thread."""
    threadSource: NotRequired[Union[str, None]]
    """Purpose of the thread in the words of the client."""

class ThreadStartResponse(TypedDict):
    """Result of `thread/start`."""
    approvalPolicy: 'AskForApproval'
    """When the user is asked for approval."""
    approvalsReviewer: 'ApprovalsReviewer'
    """Who answers approval requests."""
    cwd: 'AbsolutePath'
    """The working directory."""
    model: str
    """Name of the model."""
    modelProvider: str
    """Id of the model provider."""
    sandbox: 'SandboxPolicy'
    """Sandbox policy for commands of the model."""
    thread: 'Thread'
    """The thread."""
    disabledPluginIds: NotRequired[list[str]]
    """Ids of the plugins that are disabled for the thread."""
    instructionSources: NotRequired[list[str]]
    """Files from which instructions were read."""
    reasoningEffort: NotRequired[Union[str, None]]
    """Reasoning effort of the model."""
    serviceTier: NotRequired[Union[str, None]]
    """Service tier of the model provider."""

ThreadStartSource = Union[Literal['startup'], Literal['clear']]
"""Why a client starts a thread."""

class ThreadStartedNotification(TypedDict):
    """Params of the notification `thread/started`."""
    thread: 'Thread'
    """The thread."""

class ThreadStatusNotLoaded(TypedDict):
    """It is stored and not in memory."""
    type: Literal['notLoaded']

class ThreadStatusIdle(TypedDict):
    """It is in memory, and no turn runs."""
    type: Literal['idle']

class ThreadStatusSystemError(TypedDict):
    """The last turn failed."""
    type: Literal['systemError']

class ThreadStatusActive(TypedDict):
    """A turn runs, or waits for the user."""
    type: Literal['active']
    activeFlags: 'list[ThreadActiveFlag]'
    """What the thread waits for. Empty while it works."""

ThreadStatus = Union["ThreadStatusNotLoaded", "ThreadStatusIdle", "ThreadStatusSystemError", "ThreadStatusActive"]
"""Status of a thread."""

class ThreadStatusChangedNotification(TypedDict):
    """Params of the notification `thread/status/changed`."""
    threadId: str
    """Id of the thread."""
    status: 'ThreadStatus'
    """The status."""

class ThreadTokenUsage(TypedDict):
    """Token usage of a thread."""
    last: 'TokenUsageBreakdown'
    """Usage of the last inference call."""
    total: 'TokenUsageBreakdown'
    """Usage of all inference calls."""
    modelContextWindow: NotRequired[Union[int, None]]
    """Size of the model's context window in tokens. `null` if it is not known."""

class ThreadTokenUsageUpdatedNotification(TypedDict):
    """Params of the notification `thread/tokenUsage/updated`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""
    tokenUsage: 'ThreadTokenUsage'
    """The token usage."""

class ThreadTurnsListParams(TypedDict):
    """Params of `thread/turns/list`."""
    threadId: str
    """Id of the thread."""
    cursor: NotRequired[Union[str, None]]
    """Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning."""
    itemsView: 'NotRequired[Union[TurnItemsView, None]]'
    """Which items of each turn are returned."""
    limit: NotRequired[Union[int, None]]
    """Most entries of a page."""
    sortDirection: 'NotRequired[Union[SortDirection, None]]'
    """Order of the entries."""

class ThreadTurnsListResponse(TypedDict):
    """Result of `thread/turns/list`."""
    data: 'list[Turn]'
    """The requested entries."""
    backwardsCursor: NotRequired[Union[str, None]]
    """Cursor for a list in the opposite direction, which returns entries that are newer than this page."""
    nextCursor: NotRequired[Union[str, None]]
    """Cursor of the next page. `null` on the last page."""

class ThreadUnarchiveParams(TypedDict):
    """Params of `thread/unarchive`."""
    threadId: str
    """Id of the thread."""

class ThreadUnarchiveResponse(TypedDict):
    """Result of `thread/unarchive`."""
    thread: 'Thread'
    """The thread."""

class ThreadUnarchivedNotification(TypedDict):
    """Params of the notification `thread/unarchived`."""
    threadId: str
    """Id of the thread."""

class ThreadUnsubscribeParams(TypedDict):
    """Params of `thread/unsubscribe`."""
    threadId: str
    """Id of the thread."""

class ThreadUnsubscribeResponse(TypedDict):
    """Result of `thread/unsubscribe`."""
    status: 'ThreadUnsubscribeStatus'
    """The status."""

ThreadUnsubscribeStatus = Union[Literal['notLoaded'], Literal['notSubscribed'], Literal['unsubscribed']]
"""Result of ending a subscription."""

class TokenUsageBreakdown(TypedDict):
    """Numbers of tokens by kind."""
    cachedInputTokens: int
    """Input tokens that were in the provider's cache."""
    inputTokens: int
    """Input tokens, including cached ones."""
    outputTokens: int
    """Output tokens, including reasoning."""
    reasoningOutputTokens: int
    """Reasoning tokens."""
    totalTokens: int
    """Sum of input and output tokens."""
    cacheWriteInputTokens: NotRequired[int]
    """Input tokens that were written to the provider's cache."""

class Tool(TypedDict):
    """A tool of an MCP server."""
    inputSchema: Any
    """JSON schema of the arguments."""
    name: str
    """Name of the tool."""
    _meta: NotRequired[Any]
    """Metadata of the MCP server."""
    annotations: NotRequired[Any]
    """Annotations of the MCP server."""
    description: NotRequired[Union[str, None]]
    """Description for the model."""
    icons: NotRequired[Union[list[Any], None]]
    """Icons."""
    outputSchema: NotRequired[Any]
    """JSON schema of the result."""
    title: NotRequired[Union[str, None]]
    """Display name."""

class ToolRequestUserInputAnswer(TypedDict):
    """The answers to one question."""
    answers: list[str]
    """Choices or texts of the user."""

class ToolRequestUserInputOption(TypedDict):
    """An answer to choose from."""
    description: str
    """Description for people."""
    label: str
    """The choice that is displayed."""

class ToolRequestUserInputParams(TypedDict):
    """Params of the request to the client `item/tool/requestUserInput`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""
    itemId: str
    """Id of the item."""
    isBlocking: bool
    """Whether the turn waits for the answers."""
    questions: 'list[ToolRequestUserInputQuestion]'
    """The questions."""
    autoResolutionMs: NotRequired[Union[int, None]]
    """Time after which the request is answered automatically, in milliseconds."""

class ToolRequestUserInputQuestion(TypedDict):
    """A question to the user."""
    id: str
    """Id of the question, which its answer refers to."""
    header: str
    """A short title."""
    question: str
    """The question."""
    isOther: NotRequired[bool]
    """Whether the user may write another answer."""
    isSecret: NotRequired[bool]
    """Whether the answer is hidden while it is typed."""
    options: 'NotRequired[Union[list[ToolRequestUserInputOption], None]]'
    """Answers to choose from."""

class ToolRequestUserInputResponse(TypedDict):
    """Response to `item/tool/requestUserInput`."""
    answers: 'dict[str, ToolRequestUserInputAnswer]'
    """The answers, by the id of the question."""

class TraceContext(TypedDict):
    """The place of a request in a distributed trace, as in the W3C's Trace Context."""
    traceparent: NotRequired[Union[str, None]]
    """The `traceparent` header."""
    tracestate: NotRequired[Union[str, None]]
    """The `tracestate` header."""

class Turn(TypedDict):
    """A turn: what an agent does from one input of the user until it stops."""
    id: str
    """Id of the turn."""
    items: 'list[ThreadItem]'
    """The items that `itemsView` selects."""
    status: 'TurnStatus'
    """The status."""
    completedAt: NotRequired[Union[int, None]]
    """End time in Unix seconds."""
    durationMs: NotRequired[Union[int, None]]
    """Duration in milliseconds."""
    error: 'NotRequired[Union[TurnError, None]]'
    """The error. `null` unless the turn failed."""
    itemsView: 'NotRequired[TurnItemsView]'
    """Which items are included."""
    rootTurnId: NotRequired[Union[str, None]]
    """Id of the first turn in the chain that led to this one. Its own id if no other turn did."""
    startedAt: NotRequired[Union[int, None]]
    """Start time in Unix seconds."""

class TurnCompletedNotification(TypedDict):
    """Params of the notification `turn/completed`."""
    threadId: str
    """Id of the thread."""
    turn: 'Turn'
    """The turn."""

class TurnDiffUpdatedNotification(TypedDict):
    """Params of the notification `turn/diff/updated`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""
    diff: str
    """All changes of the turn so far, as a unified diff."""

class TurnError(TypedDict):
    """Why a turn failed, or must retry."""
    message: str
    """Error message of the component that reported it."""
    additionalDetails: NotRequired[Union[str, None]]
    """More details for people."""
    codexErrorInfo: 'NotRequired[Union[CodexErrorInfo, None]]'
    """Kind of the error."""
    misalignment: 'NotRequired[Union[MisalignmentErrorDetails, None]]'
    """Details about a model that did something other than what it was asked."""

class TurnInterruptParams(TypedDict):
    """Params of `turn/interrupt`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""

TurnInterruptResponse = dict[str, Any]
"""Result of `turn/interrupt`."""

TurnItemsView = Union[Literal['notLoaded'], Literal['summary'], Literal['full']]
"""Which items of a turn are included."""

class TurnPlanStep(TypedDict):
    """A step of a plan."""
    status: 'TurnPlanStepStatus'
    """The status."""
    step: str
    """Description of the step."""

TurnPlanStepStatus = Union[Literal['pending'], Literal['inProgress'], Literal['completed']]
"""Status of a step."""

class TurnPlanUpdatedNotification(TypedDict):
    """Params of the notification `turn/plan/updated`."""
    threadId: str
    """Id of the thread."""
    turnId: str
    """Id of the turn."""
    plan: 'list[TurnPlanStep]'
    """The steps of the plan."""
    explanation: NotRequired[Union[str, None]]
    """Explanation of the plan."""

class TurnStartParams(TypedDict):
    """Params of `turn/start`."""
    threadId: str
    """Id of the thread."""
    input: 'list[UserInput]'
    """Input of the user."""
    approvalPolicy: 'NotRequired[Union[AskForApproval, None]]'
    """When the user is asked for approval."""
    approvalsReviewer: 'NotRequired[Union[ApprovalsReviewer, None]]'
    """Who answers approval requests."""
    clientUserMessageId: NotRequired[Union[str, None]]
    """Id of the message, chosen by the client. The user message item contains it."""
    cwd: NotRequired[Union[str, None]]
    """The working directory."""
    disabledPluginIds: NotRequired[Union[list[str], None]]
    """Ids of the plugins that are disabled for the thread."""
    effort: NotRequired[Union[str, None]]
    """Reasoning effort of the model."""
    model: NotRequired[Union[str, None]]
    """Name of the model."""
    outputSchema: NotRequired[Any]
    """JSON schema that the answer must follow."""
    parentTurnId: NotRequired[Union[str, None]]
    """Id of the turn because of which the client starts this one."""
    personality: 'NotRequired[Union[Personality, None]]'
    """Personality of the model."""
    rootTurnId: NotRequired[Union[str, None]]
    """Id of the first turn in the chain that led to this one."""
    sandboxPolicy: 'NotRequired[Union[SandboxPolicy, None]]'
    """Sandbox policy for commands."""
    serviceTier: NotRequired[Union[str, None]]
    """Service tier of the model provider."""
    serviceTierForTurn: NotRequired[Union[str, None]]
    """Service tier of this turn only."""
    summary: 'NotRequired[Union[ReasoningSummary, None]]'
    """How the model summarizes its reasoning."""
    toolOutput: 'NotRequired[Union[TurnToolOutput, None]]'
    """Output of a tool, instead of a text."""
    turnTrigger: NotRequired[Union[str, None]]
    """Why the client starts the turn."""

class TurnStartResponse(TypedDict):
    """Result of `turn/start`."""
    turn: 'Turn'
    """The turn."""

class TurnStartedNotification(TypedDict):
    """Params of the notification `turn/started`."""
    threadId: str
    """Id of the thread."""
    turn: 'Turn'
    """The turn."""

TurnStatus = Union[Literal['completed'], Literal['interrupted'], Literal['failed'], Literal['inProgress']]
"""Status of a turn."""

class TurnSteerParams(TypedDict):
    """Params of `turn/steer`."""
    threadId: str
    """Id of the thread."""
    expectedTurnId: str
    """Id of the turn that the client believes to be running."""
    input: 'list[UserInput]'
    """Input of the user."""
    clientUserMessageId: NotRequired[Union[str, None]]
    """Id of the message, chosen by the client. The user message item contains it."""

class TurnSteerResponse(TypedDict):
    """Result of `turn/steer`."""
    turnId: str
    """Id of the turn."""

class TurnToolOutput(TypedDict):
    """Output of a tool that a client sends with its input."""
    name: str
    """Name of the tool."""
    output: 'FunctionCallOutputBody'
    """The output."""
    namespace: NotRequired[Union[str, None]]
    """The namespace of the tool."""
    retain: NotRequired[bool]
    """Whether it stays in the history."""

class UserInputText(TypedDict):
    """A text."""
    type: Literal['text']
    text: str
    """The text."""
    text_elements: 'NotRequired[list[TextElement]]'
    """Parts of the text that a client displays in its own way."""

class UserInputImage(TypedDict):
    """An image."""
    url: NotRequired[str]
    """The URL."""
    fileId: NotRequired[str]
    """Id that the provider gave to the file."""
    type: Literal['image']
    detail: 'NotRequired[Union[ImageDetail, None]]'
    """Level of detail for the model."""

class UserInputLocalImage(TypedDict):
    """An image in a file of the server's machine."""
    type: Literal['localImage']
    path: str
    """Path of the image."""
    detail: 'NotRequired[Union[ImageDetail, None]]'
    """Level of detail for the model."""

class UserInputAudio(TypedDict):
    """An audio recording."""
    url: NotRequired[str]
    """The URL."""
    fileId: NotRequired[str]
    """Id that the provider gave to the file."""
    type: Literal['audio']

class UserInputLocalAudio(TypedDict):
    """An audio recording in a file of the server's machine."""
    type: Literal['localAudio']
    path: str
    """Path of the recording."""

class UserInputSkill(TypedDict):
    """A skill to use."""
    type: Literal['skill']
    name: str
    """Name of the skill."""
    path: str
    """Path of the skill."""

class UserInputMention(TypedDict):
    """Something that the user mentions."""
    type: Literal['mention']
    name: str
    """Name that the message uses."""
    path: str
    """What the name refers to."""

UserInput = Union["UserInputText", "UserInputImage", "UserInputLocalImage", "UserInputAudio", "UserInputLocalAudio", "UserInputSkill", "UserInputMention"]
"""One part of a user's input."""

class WarningNotification(TypedDict):
    """Params of the notification `warning`."""
    message: str
    """The message for people."""
    threadId: NotRequired[Union[str, None]]
    """Id of the thread."""

class WebSearchActionSearch(TypedDict):
    """A search."""
    type: Literal['search']
    queries: NotRequired[Union[list[str], None]]
    """The searched texts."""
    query: NotRequired[Union[str, None]]
    """The searched text."""

class WebSearchActionOpenPage(TypedDict):
    """Opening a page."""
    type: Literal['openPage']
    url: NotRequired[Union[str, None]]
    """The URL."""

class WebSearchActionFindInPage(TypedDict):
    """A search within a page."""
    type: Literal['findInPage']
    pattern: NotRequired[Union[str, None]]
    """The searched text."""
    url: NotRequired[Union[str, None]]
    """The URL."""

class WebSearchActionOther(TypedDict):
    """Another action."""
    type: Literal['other']

WebSearchAction = Union["WebSearchActionSearch", "WebSearchActionOpenPage", "WebSearchActionFindInPage", "WebSearchActionOther"]
"""An action on the web."""

WriteStatus = Union[Literal['ok'], Literal['okOverridden']]
"""Whether a written setting is effective."""

__all__ = ["AbsolutePath", "Account", "AccountLoginCompletedNotification", "AccountRateLimitsUpdatedNotification", "AccountUpdatedNotification", "AdditionalFileSystemPermissions", "AdditionalNetworkPermissions", "AgentMessageDelivery", "AgentMessageDeltaNotification", "AgentMessageDisplay", "AgentMessageItem", "AgentMessageModeration", "ApplyPatchApprovalParams", "ApplyPatchApprovalResponse", "ApprovalsReviewer", "AskForApproval", "AsyncUserInputQuestion", "AttestationGenerateParams", "AttestationGenerateResponse", "AuthMode", "ByteRange", "ChatgptAuthTokensRefreshParams", "ChatgptAuthTokensRefreshReason", "ChatgptAuthTokensRefreshResponse", "ClientInfo", "ClientNotification", "ClientRequest", "CodexErrorInfo", "CollabAgentState", "CollabAgentStatus", "CollabAgentTool", "CollabAgentToolCallItem", "CollabAgentToolCallStatus", "CollaborationMode", "CommandAction", "CommandExecOutputDeltaNotification", "CommandExecOutputStream", "CommandExecParams", "CommandExecResizeParams", "CommandExecResizeResponse", "CommandExecResponse", "CommandExecTerminalSize", "CommandExecTerminateParams", "CommandExecTerminateResponse", "CommandExecWriteParams", "CommandExecWriteResponse", "CommandExecutionApprovalDecision", "CommandExecutionApprovalKind", "CommandExecutionItem", "CommandExecutionOutputDeltaNotification", "CommandExecutionRequestApprovalParams", "CommandExecutionRequestApprovalResponse", "CommandExecutionSource", "CommandExecutionStatus", "ConfigBatchWriteParams", "ConfigEdit", "ConfigLayer", "ConfigLayerMetadata", "ConfigLayerSource", "ConfigReadParams", "ConfigReadResponse", "ConfigRequirementsReadResponse", "ConfigValueWriteParams", "ConfigWarningNotification", "ConfigWriteResponse", "ContextCompactedNotification", "ContextCompactionItem", "CreditsSnapshot", "CyberAccessProgram", "DeprecationNoticeNotification", "DesktopOnboardingEntrypoint", "DynamicToolCallItem", "DynamicToolCallOutputContentItem", "DynamicToolCallParams", "DynamicToolCallResponse", "DynamicToolCallStatus", "EnteredReviewModeItem", "ErrorNotification", "ErrorResponse", "ExecCommandApprovalParams", "ExecCommandApprovalResponse", "ExitedReviewModeItem", "ExperimentalFeature", "ExperimentalFeatureListParams", "ExperimentalFeatureListResponse", "ExperimentalFeatureStage", "FileChange", "FileChangeApprovalDecision", "FileChangeItem", "FileChangeOutputDeltaNotification", "FileChangePatchUpdatedNotification", "FileChangeRequestApprovalParams", "FileChangeRequestApprovalResponse", "FileSystemAccessMode", "FileSystemPath", "FileSystemSandboxEntry", "FileSystemSpecialPath", "FileUpdateChange", "FsChangedNotification", "FsCopyParams", "FsCopyResponse", "FsCreateDirectoryParams", "FsCreateDirectoryResponse", "FsGetMetadataParams", "FsGetMetadataResponse", "FsReadDirectoryEntry", "FsReadDirectoryParams", "FsReadDirectoryResponse", "FsReadFileParams", "FsReadFileResponse", "FsRemoveParams", "FsRemoveResponse", "FsUnwatchParams", "FsUnwatchResponse", "FsWatchParams", "FsWatchResponse", "FsWriteFileParams", "FsWriteFileResponse", "FunctionCallOutputBody", "FunctionCallOutputContentItem", "FunctionCallOutputItem", "FuzzyFileSearchMatchType", "FuzzyFileSearchParams", "FuzzyFileSearchResponse", "FuzzyFileSearchResult", "FuzzyFileSearchSessionCompletedNotification", "FuzzyFileSearchSessionUpdatedNotification", "GatewayAuth", "GetAccountParams", "GetAccountResponse", "GitInfo", "GrantedPermissionProfile", "HookCompletedNotification", "HookErrorInfo", "HookEventName", "HookExecutionMode", "HookHandlerType", "HookMetadata", "HookOutputEntry", "HookOutputEntryKind", "HookPromptFragment", "HookPromptItem", "HookRunStatus", "HookRunSummary", "HookScope", "HookSource", "HookStartedNotification", "HookTrustStatus", "HooksListEntry", "HooksListParams", "HooksListResponse", "ImageDetail", "ImageGenerationFailure", "ImageGenerationInputImage", "ImageGenerationItem", "ImageViewItem", "InitializeCapabilities", "InitializeParams", "InitializeResponse", "InputModality", "ItemCompletedNotification", "ItemStartedNotification", "ListMcpServerStatusParams", "ListMcpServerStatusResponse", "LoginAccountParams", "LoginAccountResponse", "LoginAppBrand", "LogoutAccountResponse", "McpAppDisplayMode", "McpAppUi", "McpAuthStatus", "McpResourceReadParams", "McpResourceReadResponse", "McpResourceReadTarget", "McpServerConnectionStatus", "McpServerElicitationAction", "McpServerElicitationRequestParams", "McpServerElicitationRequestResponse", "McpServerInfo", "McpServerOauthClientRegistration", "McpServerOauthLoginCompletedNotification", "McpServerOauthLoginParams", "McpServerOauthLoginResponse", "McpServerRefreshResponse", "McpServerStartupFailureReason", "McpServerStartupState", "McpServerStatus", "McpServerStatusDetail", "McpServerStatusUpdatedNotification", "McpServerToolCallParams", "McpServerToolCallResponse", "McpToolCallAppContext", "McpToolCallError", "McpToolCallItem", "McpToolCallProgressNotification", "McpToolCallResult", "McpToolCallStatus", "MemoryCitation", "MemoryCitationEntry", "MergeStrategy", "MessagePhase", "MisalignmentErrorDetails", "MisalignmentSteer", "ModeKind", "Model", "ModelAccessPrograms", "ModelAvailabilityNux", "ModelListParams", "ModelListResponse", "ModelProviderCapabilitiesReadParams", "ModelProviderCapabilitiesReadResponse", "ModelProviderListParams", "ModelProviderListResponse", "ModelProviderSummary", "ModelRerouteReason", "ModelReroutedNotification", "ModelServiceTier", "ModelUpgradeInfo", "MultiAgentVersion", "NetworkAccess", "NetworkApprovalContext", "NetworkApprovalProtocol", "NetworkPolicyAmendment", "NetworkPolicyRuleAction", "NonSteerableTurnKind", "OverriddenMetadata", "ParsedCommand", "PatchApplyStatus", "PatchChangeKind", "PermissionGrantScope", "PermissionProfileListParams", "PermissionProfileListResponse", "PermissionProfileSummary", "PermissionsRequestApprovalParams", "PermissionsRequestApprovalResponse", "Personality", "PlanDeltaNotification", "PlanItem", "PlanType", "PluginInstalledParams", "PluginInstalledResponse", "ProcessExitedNotification", "ProcessOutputDeltaNotification", "ProcessOutputStream", "ProviderSettings", "RateLimitReachedType", "RateLimitSnapshot", "RateLimitWindow", "ReasoningEffortOption", "ReasoningItem", "ReasoningSummary", "ReasoningSummaryPartAddedNotification", "ReasoningSummaryTextDeltaNotification", "ReasoningTextDeltaNotification", "RemoteControlConnectionStatus", "RemoteControlStatusChangedNotification", "RequestId", "RequestPermissionProfile", "Resource", "ResourceContent", "ResourceTemplate", "Response", "ReviewDecision", "ReviewDelivery", "ReviewStartParams", "ReviewStartResponse", "ReviewTarget", "RpcError", "SandboxMode", "SandboxPolicy", "ServerNotification", "ServerRequest", "ServerRequestResolvedNotification", "SessionSource", "Settings", "SkillDependencies", "SkillErrorInfo", "SkillInterface", "SkillMetadata", "SkillScope", "SkillToolDependency", "SkillsChangedNotification", "SkillsListEntry", "SkillsListParams", "SkillsListResponse", "SleepItem", "SortDirection", "SpendControlLimitSnapshot", "SubAgentActivityItem", "SubAgentActivityKind", "SubAgentSource", "TerminalInteractionNotification", "TextElement", "TextPosition", "TextRange", "Thread", "ThreadActiveFlag", "ThreadArchiveParams", "ThreadArchiveResponse", "ThreadArchivedNotification", "ThreadClosedNotification", "ThreadCompactStartParams", "ThreadCompactStartResponse", "ThreadDeleteParams", "ThreadDeleteResponse", "ThreadDeletedNotification", "ThreadForkParams", "ThreadForkResponse", "ThreadGoal", "ThreadGoalClearParams", "ThreadGoalClearResponse", "ThreadGoalClearedNotification", "ThreadGoalGetParams", "ThreadGoalGetResponse", "ThreadGoalMutationOrigin", "ThreadGoalSetParams", "ThreadGoalSetResponse", "ThreadGoalStatus", "ThreadGoalUpdatedNotification", "ThreadHistoryMode", "ThreadInjectItemsParams", "ThreadInjectItemsResponse", "ThreadItem", "ThreadItemEntry", "ThreadItemOutputDeferral", "ThreadItemsListAnchor", "ThreadItemsListCursor", "ThreadItemsListParams", "ThreadItemsListResponse", "ThreadListCwdFilter", "ThreadListParams", "ThreadListResponse", "ThreadLoadedListParams", "ThreadLoadedListResponse", "ThreadMetadataGitInfoUpdateParams", "ThreadMetadataUpdateParams", "ThreadMetadataUpdateResponse", "ThreadNameUpdatedNotification", "ThreadQueueChangedNotification", "ThreadReadParams", "ThreadReadResponse", "ThreadResumeParams", "ThreadResumeResponse", "ThreadRevertParams", "ThreadRevertResponse", "ThreadRevertedNotification", "ThreadRollbackParams", "ThreadRollbackResponse", "ThreadSection", "ThreadSectionAppearance", "ThreadSetNameParams", "ThreadSetNameResponse", "ThreadShellCommandParams", "ThreadShellCommandResponse", "ThreadSortKey", "ThreadSourceKind", "ThreadStartParams", "ThreadStartResponse", "ThreadStartSource", "ThreadStartedNotification", "ThreadStatus", "ThreadStatusChangedNotification", "ThreadTokenUsage", "ThreadTokenUsageUpdatedNotification", "ThreadTurnsListParams", "ThreadTurnsListResponse", "ThreadUnarchiveParams", "ThreadUnarchiveResponse", "ThreadUnarchivedNotification", "ThreadUnsubscribeParams", "ThreadUnsubscribeResponse", "ThreadUnsubscribeStatus", "TokenUsageBreakdown", "Tool", "ToolRequestUserInputAnswer", "ToolRequestUserInputOption", "ToolRequestUserInputParams", "ToolRequestUserInputQuestion", "ToolRequestUserInputResponse", "TraceContext", "Turn", "TurnCompletedNotification", "TurnDiffUpdatedNotification", "TurnError", "TurnInterruptParams", "TurnInterruptResponse", "TurnItemsView", "TurnPlanStep", "TurnPlanStepStatus", "TurnPlanUpdatedNotification", "TurnStartParams", "TurnStartResponse", "TurnStartedNotification", "TurnStatus", "TurnSteerParams", "TurnSteerResponse", "TurnToolOutput", "UserInput", "UserMessageItem", "WarningNotification", "WebSearchAction", "WebSearchItem", "WriteStatus"]  # noqa
