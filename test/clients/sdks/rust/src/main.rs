//! Asks a gateway through async-openai: a whole answer, a stream and a tool call.
use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{ChatCompletionMessageToolCalls, CreateChatCompletionRequest};
use futures::StreamExt;
use serde_json::{Value, from_value, json};
use std::env::var;
use std::error::Error;

fn request(prompt: &str, tools: Option<Value>) -> Result<CreateChatCompletionRequest, Box<dyn Error>> {
    let mut body = json!({
        "model": var("SDK_MODEL")?,
        "messages": [{ "role": "user", "content": prompt }],
    });
    if let Some(tools) = tools {
        body["tools"] = tools;
    }
    Ok(from_value(body)?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let config = OpenAIConfig::new()
        .with_api_base(format!("{}/v1", var("SDK_URL")?))
        .with_api_key(var("SDK_KEY")?);
    let client = Client::with_config(config);
    let prompt = var("SDK_PROMPT")?;
    let whole = client.chat().create(request(&prompt, None)?).await?;
    println!("whole {}", whole.choices[0].message.content.clone().unwrap_or_default());
    let mut stream = client.chat().create_stream(request(&prompt, None)?).await?;
    let mut text = String::new();
    while let Some(chunk) = stream.next().await {
        for choice in chunk?.choices {
            text.push_str(&choice.delta.content.unwrap_or_default());
        }
    }
    println!("stream {text}");
    let parameters = json!({ "type": "object", "properties": { "cmd": { "type": "string" } } });
    let function = json!({ "name": var("SDK_TOOL")?, "parameters": parameters });
    let tools = json!([{ "type": "function", "function": function }]);
    let answer = client.chat().create(request(&var("SDK_TOOL_PROMPT")?, Some(tools))?).await?;
    for call in answer.choices[0].message.tool_calls.clone().unwrap_or_default() {
        if let ChatCompletionMessageToolCalls::Function(call) = call {
            println!("tool {} {}", call.function.name, call.function.arguments);
        }
    }
    Ok(())
}
