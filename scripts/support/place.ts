import type { Client } from './client.ts'

export interface Place {
  organization_id: string
  edition_id: string
}

export const create = async (client: Client, path: string, body: unknown): Promise<string> =>
  (await client.post<{ id: string }>(path, body)).id

/** Makes an organisation with one edition. */
export async function createPlace(client: Client, name: string): Promise<Place> {
  const organization_id = await create(client, '/v1/organizations', { name })
  const event_id = await create(client, '/v1/events', { organization_id, name })
  const edition_id = await create(client, '/v1/editions', { organization_id, event_id, name })
  return { organization_id, edition_id }
}
