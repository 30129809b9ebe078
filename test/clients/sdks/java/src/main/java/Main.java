import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.JsonValue;
import com.anthropic.core.http.StreamResponse;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.RawMessageStreamEvent;
import com.anthropic.models.messages.Tool;
import java.util.Map;
import java.util.stream.Collectors;

/** Asks a gateway through anthropic-java: a whole answer, a stream and a tool call. */
public final class Main {
    private Main() {}

    private static MessageCreateParams.Builder request(String prompt) {
        return MessageCreateParams.builder()
                .model(System.getenv("SDK_MODEL"))
                .maxTokens(100)
                .addUserMessage(System.getenv(prompt));
    }

    public static void main(String[] arguments) {
        AnthropicClient client = AnthropicOkHttpClient.builder()
                .baseUrl(System.getenv("SDK_URL"))
                .apiKey(System.getenv("SDK_KEY"))
                .maxRetries(0)
                .build();
        String whole = client.messages().create(request("SDK_PROMPT").build()).content().stream()
                .flatMap(block -> block.text().stream())
                .map(block -> block.text())
                .collect(Collectors.joining());
        System.out.println("whole " + whole);
        try (StreamResponse<RawMessageStreamEvent> stream =
                client.messages().createStreaming(request("SDK_PROMPT").build())) {
            String text = stream.stream()
                    .flatMap(event -> event.contentBlockDelta().stream())
                    .flatMap(event -> event.delta().text().stream())
                    .map(delta -> delta.text())
                    .collect(Collectors.joining());
            System.out.println("stream " + text);
        }
        Tool tool = Tool.builder()
                .name(System.getenv("SDK_TOOL"))
                .inputSchema(Tool.InputSchema.builder()
                        .properties(JsonValue.from(Map.of("cmd", Map.of("type", "string"))))
                        .build())
                .build();
        client.messages().create(request("SDK_TOOL_PROMPT").addTool(tool).build()).content().stream()
                .flatMap(block -> block.toolUse().stream())
                .forEach(block -> System.out.println("tool " + block.name() + " " + block._input()));
        client.close();
    }
}
