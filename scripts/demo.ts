import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from './support/client.ts'
import { runCampaign } from './support/demo-campaign.ts'
import { followConsents } from './support/demo-consents.ts'
import { summarizeResults, type Tenant, importOrders, importTable } from './support/demo-import.ts'
import { followRefund } from './support/demo-refund.ts'
import { findOrders, followCustomer } from './support/demo-tour.ts'
import { followWallet } from './support/demo-wallet.ts'
import { followWebhooks } from './support/demo-webhooks.ts'
import { type FakeStripeServer, startFakeStripe } from './support/fake-stripe-server.ts'
import { groupOrders, readLines, buildTableWithAddresses } from './support/online-retail.ts'
import { type Receiver, startReceiver } from './support/receiver.ts'
import { startServer } from './support/server.ts'

const quit = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => quit.abort())

const title = (text: string) => console.log(`\n${text}`)
const print = (...lines: string[]) => {
  for (const text of lines) console.log(`  ${text}`)
}

interface Made {
  id: string
}

/** Creates an organisation with an event, an edition and members. Returns clients of the manager and the admin. */
async function setUp(root: Client, url: string): Promise<{ manager: Client; admin: Client; tenant: Tenant }> {
  const { id: organization_id } = await root.post<Made>('/v1/organizations', { name: 'Harbour Gifts' })
  const { id: event_id } = await root.post<Made>('/v1/events', { organization_id, name: 'Christmas Market' })
  const { id: edition_id, full_name } = await root.post<Made & { full_name: string }>('/v1/editions', {
    organization_id,
    event_id,
    name: 'December 2010',
    timezone: 'Europe/London',
    default_country_code: '+44',
    start_date: '2010-12-01T08:00:00Z',
    end_date: '2010-12-24T18:00:00Z',
  })
  print(`organisation Harbour Gifts, event Christmas Market, edition ${full_name}`)
  const add = async (email: string, role: string, scopes: string[]) => {
    const member = await root.post<Made>(`/v1/organizations/${organization_id}/members`, { email, role })
    const { token } = await root.post<{ token: string }>('/v1/auth/tokens', {
      name: 'demo',
      member_id: member.id,
      scopes,
    })
    print(`${email} is ${role}, with a token for ${scopes.join(' and ')}`)
    return createClient(url, token)
  }
  const manager = await add('manager@harbour.example', 'manager', ['read', 'write'])
  const admin = await add('admin@harbour.example', 'admin', ['read', 'write'])
  await add('viewer@harbour.example', 'viewer', ['read'])
  return { manager, admin, tenant: { organization_id, edition_id } }
}

interface Around {
  receiver: Receiver
  stripe: FakeStripeServer
}

async function main(url: string, rootToken: string, { receiver, stripe }: Around): Promise<void> {
  title('An organisation and its people')
  const { manager, admin, tenant } = await setUp(createClient(url, rootToken), url)

  const lines = await readLines()
  const orders = groupOrders(lines)
  title(`Import of a file: ${lines.length} lines of a real shop are ${orders.length} invoices`)
  await importTable(manager, tenant, await buildTableWithAddresses(), print)
  title('The same invoices from a program, as JSON: nothing is made twice')
  print(...summarizeResults(await importOrders(manager, tenant, orders)))

  title('Lists, filters, search, pages')
  const order = await findOrders(manager, tenant, print)
  title('One order, one purchase, its customer')
  await followCustomer(manager, tenant, order, print)
  title('Webhooks: signed, retried, recovered')
  await followWebhooks({ admin, receiver, tenant }, orders.slice(0, 10), print)
  title('Wallet passes: added, removed, announced')
  await followWallet({ admin, url, receiver, tenant }, print)
  title('Consents and uses: answered, ended, announced')
  const [old] = orders.filter(({ status }) => status === 'completed')
  if (!old) throw new Error('No order is completed.')
  await followConsents({ admin, receiver, tenant, order: old }, print)
  title('A refund through a fake of Stripe: paid once, confirmed, announced')
  await followRefund({ admin, url, receiver, stripe, tenant, order: old }, print)
  title('A campaign to those who came back')
  await runCampaign(manager, url, tenant, print)
}

// Retries follow after a second instead of hours.
const env = {
  ALLOW_INSECURE_WEBHOOKS: '1',
  WEBHOOK_RETRY_SCHEDULE: '1,1,1',
  WALLET_VENDOR_A: 'apple',
  WALLET_VENDOR_B: 'google',
}
const stateDir = await mkdtemp(join(tmpdir(), 'event-commerce-demo-'))
const stripe = await startFakeStripe()
try {
  console.log('Starting a server of its own …')
  const server = await startServer({
    port: 0,
    stateDir,
    env: { ...env, PAYMENT_API_BASE: stripe.url },
    signal: quit.signal,
    program: 'scripts/support/seed-worker.ts',
  })
  const receiver = await startReceiver()
  try {
    await main(server.url, server.rootToken, { receiver, stripe })
    console.log('\nDone.')
  } finally {
    await server.stop()
    await receiver.stop()
  }
} catch (error) {
  console.error(quit.signal.aborted ? 'Stopped.' : error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  await stripe.stop()
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 })
}
