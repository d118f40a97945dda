/** Creates something once and returns its id or token. A step of an earlier start returns its stored value. */
export type Make = (step: string, path: string, body: unknown) => Promise<string>

/** The ids that the demonstration data of an edition refers to. */
export interface DemoEdition {
  organization_id: string
  edition_id: string
}

export const rowsPath = '/demonstration/rows'

export interface RowsRequest {
  organization_id: string
  edition_id: string
  endpoint_id: string
  /** Milliseconds UTC. All rows are older. */
  seeded_at: number
}

export const dayMs = 86_400_000

/** Reports opens and clicks to a campaign. Real visits within two seconds of sending would count as programs. */
export const visitsPath = '/demonstration/visits'
