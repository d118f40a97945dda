/** Programs that use generated clients. Each creates an organisation, an event and an edition, and reads them again. */

/** `orders` is the text of an array of orders. */
export const buildTypedProgram = (orders: string) => `
import createClient from 'openapi-fetch'
import type { paths } from './schema.d.ts'

const { URL: baseUrl, TOKEN } = process.env
const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${TOKEN}\` } })

const organization = await client.POST('/v1/organizations', { body: { name: 'Typed' } })
if (!organization.data) throw new Error(JSON.stringify(organization.error))
const organization_id: string = organization.data.id
const event = await client.POST('/v1/events', { body: { organization_id, name: 'Festival' } })
if (!event.data) throw new Error(JSON.stringify(event.error))
const edition = await client.POST('/v1/editions', {
  params: { header: { 'idempotency-key': 'typed' } },
  body: { organization_id, event_id: event.data.id, name: '2026', timezone: 'Europe/Copenhagen' },
})
if (!edition.data) throw new Error(JSON.stringify(edition.error))
const list = await client.GET('/v1/editions', {
  params: { query: { organization_id, ordering: ['-start_date', 'created'], page: 1 } },
  querySerializer: { array: { style: 'form', explode: false } },
})
const imported = await client.POST('/v1/data-imports/external-orders', {
  body: { organization_id, edition_id: edition.data.id, source: 'webshop', orders: ${orders} },
})
if (imported.data?.created_orders !== 1) throw new Error(JSON.stringify(imported.error ?? imported.data))
const missing = await client.GET('/v1/editions/{id}', { params: { path: { id: 'edt_none' } } })
console.log(JSON.stringify({ found: list.data?.results.map(({ id }) => id), made: edition.data.id, code: missing.error?.code }))
`

export const validatingProgram = `
import { client } from './generated/client.gen.ts'
import * as api from './generated/sdk.gen.ts'

client.setConfig({ baseUrl: process.env['URL'], auth: () => process.env['TOKEN'] })

const must = <Data>({ data, error }: { data?: Data; error?: unknown }): Data => {
  if (data === undefined) throw new Error(JSON.stringify(error) ?? String(error))
  return data
}
const { id: organization_id } = must(await api.createOrganization({ body: { name: 'Validating' } }))
const { id: event_id } = must(await api.createEvent({ body: { organization_id, name: 'Festival' } }))
const made = must(await api.createEdition({ body: { organization_id, event_id, name: '2026' } }))
const list = must(await api.listEditions({ query: { organization_id, ordering: ['-start_date', 'created'] } }))
const segment = must(
  await api.createSegment({
    body: { organization_id, name: 'All', communication_type: 'transactional', communication_channel: 'email', expression: 'true' },
  }),
)
must(await api.getSegment({ path: { id: segment.id } }))
must(await api.getEditionMeta())
must(await api.listTemplateVariables({}))
must(await api.listWebhookEventKinds())
const missing = await api.getEdition({ path: { id: 'edt_none' } })
console.log(JSON.stringify({ found: list.results.map(({ id }) => id), made: made.id, code: missing.error?.code }))
`

export const pythonProgram = `
import importlib, json, os, pkgutil
import generated
from generated import AuthenticatedClient
from generated import models
from generated.api.editions import create_edition, get_edition, list_editions
from generated.api.organizations import create_event, create_organization

for module in pkgutil.walk_packages(generated.__path__, "generated."):
    importlib.import_module(module.name)

client = AuthenticatedClient(base_url=os.environ["URL"], token=os.environ["TOKEN"])
organization = create_organization.sync(client=client, body=models.CreateOrganizationBody(name="Python"))
event = create_event.sync(client=client, body=models.CreateEventBody(organization_id=organization.id, name="Festival"))
body = models.CreateEditionBody(organization_id=organization.id, event_id=event.id, name="2026")
made = create_edition.sync(client=client, body=body)
listed = list_editions.sync(client=client, organization_id=organization.id)
missing = get_edition.sync(client=client, id="edt_none")
print(json.dumps({"found": [one.id for one in listed.results], "made": made.id, "code": missing.code}))
`
