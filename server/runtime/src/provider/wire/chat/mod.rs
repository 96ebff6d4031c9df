//! The Chat Completions wire format, which OpenAI, Ollama, llama.cpp, vLLM, LM Studio and many others support.

mod answer;
mod body;
mod json_end;

pub(super) use answer::ChunkReader;
pub(super) use body::body;
