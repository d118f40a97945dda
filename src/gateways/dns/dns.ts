import type { TxtLookup } from '../../domain/messaging/sender-domains.ts'

export type { TxtLookup }

export interface DnsGateway {
  /** Reads the TXT records of a name, the parts of each joined. Never throws. */
  lookUpTxt(name: string): Promise<TxtLookup>
}

export interface CapturedRecords {
  findTexts: (name: string) => Promise<readonly string[]>
}

/** Creates a gateway that returns records which a developer or a test has set. */
export const createDnsCapture = (records: CapturedRecords): DnsGateway => ({
  lookUpTxt: async (name) => ({ ok: true, texts: await records.findTexts(name) }),
})
