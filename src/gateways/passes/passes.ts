import type { CallbackSender } from '../../domain/wallet/google-callback.ts'
import type { PassContent } from '../../domain/wallet/wallet-pass.ts'

export interface ApplePass {
  content: PassContent
  /** The token that the phone sends to the web service. */
  token: string
}

type RequestedPass =
  | { platform: 'apple'; content: PassContent; download_url: string }
  | { platform: 'google'; content: PassContent }

/**
 * permanent: this update can never succeed. configuration: no update succeeds before somebody corrects the account.
 * transient: the update may succeed later. gone: no phone has the pass, so there is nothing to update.
 */
export type UpdateResult =
  | { ok: true }
  | { ok: false; kind: 'permanent' | 'configuration' | 'transient' | 'gone'; code: string }

/** refused: this push can never succeed. off: push is not configured. transient: the push may succeed later. */
export type PushResult = 'sent' | 'gone' | 'refused' | 'transient' | 'off'

/** A notification to a phone that a pass has changed. */
export interface Push {
  pass_id: string
  change_number: number
  push_token: string
}

export interface PassesGateway {
  /** Creates the link that adds the pass to the wallet of whoever opens it. */
  createAddUrl: (pass: RequestedPass) => Promise<string>
  /** Builds a .pkpass file. */
  buildApplePackage: (pass: ApplePass) => Promise<Uint8Array<ArrayBuffer>>
  /** Lists who may sign callbacks. `isFresh` reads the keys again instead of using cached ones. */
  loadCallbackSenders: (isFresh: boolean) => Promise<readonly CallbackSender[]>
  /** Updates Google's copy of a pass. Repeating it does no harm. Never throws. */
  updateGoogle: (content: PassContent, changeNumber: number) => Promise<UpdateResult>
  /** Makes a phone request the changes of a pass. Never throws. */
  pushApple: (push: Push) => Promise<PushResult>
}
