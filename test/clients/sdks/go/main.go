// Command sdk asks a gateway through an official SDK: a whole answer, a stream and a tool call.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"google.golang.org/genai"
)

var (
	url    = os.Getenv("SDK_URL")
	key    = os.Getenv("SDK_KEY")
	model  = os.Getenv("SDK_MODEL")
	plain  = os.Getenv("SDK_PROMPT")
	tool   = os.Getenv("SDK_TOOL")
	called = os.Getenv("SDK_TOOL_PROMPT")
)

func main() {
	ask := map[string]func(context.Context) error{"openai": askOpenAI, "anthropic": askAnthropic, "genai": askGenAI}[os.Args[1]]
	if err := ask(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func askOpenAI(ctx context.Context) error {
	client := openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey(key), option.WithMaxRetries(0))
	params := func(prompt string) openai.ChatCompletionNewParams {
		return openai.ChatCompletionNewParams{
			Model:    model,
			Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)},
		}
	}
	whole, err := client.Chat.Completions.New(ctx, params(plain))
	if err != nil {
		return err
	}
	fmt.Println("whole", whole.Choices[0].Message.Content)
	stream := client.Chat.Completions.NewStreaming(ctx, params(plain))
	text := ""
	for stream.Next() {
		for _, choice := range stream.Current().Choices {
			text += choice.Delta.Content
		}
	}
	if err := stream.Err(); err != nil {
		return err
	}
	fmt.Println("stream", text)
	withTool := params(called)
	withTool.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
		Name:       tool,
		Parameters: openai.FunctionParameters{"type": "object", "properties": map[string]any{"cmd": map[string]any{"type": "string"}}},
	})}
	answer, err := client.Chat.Completions.New(ctx, withTool)
	if err != nil {
		return err
	}
	for _, call := range answer.Choices[0].Message.ToolCalls {
		fmt.Println("tool", call.Function.Name, call.Function.Arguments)
	}
	return nil
}

func askAnthropic(ctx context.Context) error {
	client := anthropic.NewClient(
		anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey(key), anthropicoption.WithMaxRetries(0))
	params := func(prompt string) anthropic.MessageNewParams {
		return anthropic.MessageNewParams{
			Model:     anthropic.Model(model),
			MaxTokens: 100,
			Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(prompt))},
		}
	}
	whole, err := client.Messages.New(ctx, params(plain))
	if err != nil {
		return err
	}
	fmt.Println("whole", textOf(whole))
	stream := client.Messages.NewStreaming(ctx, params(plain))
	message := anthropic.Message{}
	for stream.Next() {
		if err := message.Accumulate(stream.Current()); err != nil {
			return err
		}
	}
	if err := stream.Err(); err != nil {
		return err
	}
	fmt.Println("stream", textOf(&message))
	withTool := params(called)
	withTool.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
		Name:        tool,
		InputSchema: anthropic.ToolInputSchemaParam{Properties: map[string]any{"cmd": map[string]any{"type": "string"}}},
	}}}
	answer, err := client.Messages.New(ctx, withTool)
	if err != nil {
		return err
	}
	for _, block := range answer.Content {
		if block.Type == "tool_use" {
			fmt.Println("tool", block.Name, string(block.Input))
		}
	}
	return nil
}

func textOf(message *anthropic.Message) string {
	text := ""
	for _, block := range message.Content {
		text += block.Text
	}
	return text
}

func askGenAI(ctx context.Context) error {
	client, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: key, Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: url}})
	if err != nil {
		return err
	}
	whole, err := client.Models.GenerateContent(ctx, model, genai.Text(plain), nil)
	if err != nil {
		return err
	}
	fmt.Println("whole", whole.Text())
	text := ""
	for part, err := range client.Models.GenerateContentStream(ctx, model, genai.Text(plain), nil) {
		if err != nil {
			return err
		}
		text += part.Text()
	}
	fmt.Println("stream", text)
	answer, err := client.Models.GenerateContent(ctx, model, genai.Text(called), &genai.GenerateContentConfig{
		Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{
			Name:                 tool,
			ParametersJsonSchema: map[string]any{"type": "object", "properties": map[string]any{"cmd": map[string]any{"type": "string"}}},
		}}}},
	})
	if err != nil {
		return err
	}
	for _, call := range answer.FunctionCalls() {
		fmt.Println("tool", call.Name, call.Args)
	}
	return nil
}
