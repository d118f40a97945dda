import { Tabs, Text } from '@mantine/core'
import { CodeBlock } from '../../parts/code-block'
import { loadWords } from '../../words'

const t = await loadWords('webhooks')

const snippets = {
  'TypeScript (@event-commerce/client)': `import { verifyWebhook } from '@event-commerce/client'

export async function receive(request: Request): Promise<Response> {
  // The body as it came: parsed and written again, it has another signature.
  const body = await request.text()
  const event = verifyWebhook(body, request.headers, process.env['WEBHOOK_SECRET'] ?? '')
  console.log(request.headers.get('webhook-id'), event.type)
  return new Response(null, { status: 204 })
}`,
  'Node (standardwebhooks)': `import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.WEBHOOK_SECRET)

createServer(async (request, response) => {
  const body = await text(request)
  try {
    const event = webhook.verify(body, request.headers)
    console.log(request.headers['webhook-id'], event.type)
    response.writeHead(204).end()
  } catch {
    response.writeHead(400).end()
  }
}).listen(8790)`,
  'Python (standardwebhooks)': `import os
from flask import Flask, request
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

app = Flask(__name__)
webhook = Webhook(os.environ["WEBHOOK_SECRET"])

@app.post("/webhooks")
def receive():
    try:
        event = webhook.verify(request.get_data(), request.headers)
    except WebhookVerificationError:
        return "", 400
    print(request.headers["webhook-id"], event["type"])
    return "", 204`,
}

/** Code that checks the signature of a request, by language. */
export function Snippets() {
  return (
    <div>
      <Text size="sm" mb="xs">
        {t.verifyHint}
      </Text>
      <Tabs defaultValue="0" keepMounted={false}>
        <Tabs.List>
          {Object.keys(snippets).map((name, index) => (
            <Tabs.Tab key={name} value={String(index)}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {Object.entries(snippets).map(([name, code], index) => (
          <Tabs.Panel key={name} value={String(index)} pt="xs">
            <CodeBlock name={name} text={code} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </div>
  )
}
