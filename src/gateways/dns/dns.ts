import type { TxtAnswer } from '../../domain/messaging/sender-domains.ts'

export type { TxtAnswer }

export interface DnsGateway {
  /** The texts of the TXT records at a name, the parts of each joined. Never throws. */
  txt(name: string): Promise<TxtAnswer>
}
