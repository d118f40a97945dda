/** Makes something once, and answers its id or its token: of an earlier start where the step is known. */
export type Make = (step: string, path: string, body: unknown) => Promise<string>

/** What the demonstration data of an edition refers to. */
export interface DemoEdition {
  organization_id: string
  edition_id: string
}

export const rowsPath = '/demonstration/rows'

export interface RowsRequest {
  organization_id: string
  edition_id: string
  endpoint_id: string
  /** Milliseconds UTC; the times of all rows stand before it. */
  seeded_at: number
}

export const dayMs = 86_400_000

/** Makes the products of an edition ones for the wallet, and gives them a pass design. */
export const walletPath = '/demonstration/wallet'

/** Tells a campaign of openings and clicks. Visits of links would count as those of machines for two seconds after sending. */
export const visitsPath = '/demonstration/visits'
