import type { AppleIdentity } from './apple-fields.ts'
import { applePackage } from './apple-package.ts'
import { type PushConnection, pushToPhone } from './apple-push.ts'
import { bytesOfPem, detachedSignature, importSigningKey, type Signer } from './detached-signature.ts'
import { patchObject, parseServiceAccount, signedJwt } from './google-api.ts'
import { googleCallbackSenders } from './google-keys.ts'
import { saveAddress } from './google-names.ts'
import { googleClass, type GoogleIdentity, googleObject, googleUpdate } from './google-object.ts'
import type { PassesGateway } from './passes.ts'

export interface LiveOptions {
  apple: AppleIdentity & { certificate: string; privateKey: string; issuerCertificate: string }
  google: GoogleIdentity & { serviceAccount: string; apiBase: string }
  push: PushConnection | undefined
  now: () => number
}

/** Kept, because importing a key takes longer than signing with it. */
const signers = new Map<string, Promise<Signer>>()

function signerOf({ certificate, privateKey, issuerCertificate }: LiveOptions['apple']): Promise<Signer> {
  const name = certificate + privateKey
  const known = signers.get(name)
  if (known) return known
  const made = importSigningKey(privateKey).then((key) => ({
    key,
    certificate: bytesOfPem(certificate, 'CERTIFICATE'),
    issuer: bytesOfPem(issuerCertificate, 'CERTIFICATE'),
  }))
  signers.set(name, made)
  return made
}

/** Passes for the real platforms, with the certificates and accounts of the operator. */
export function livePasses({ apple, google, push, now }: LiveOptions): PassesGateway {
  return {
    addUrl: async (pass) => {
      if (pass.platform === 'apple') return pass.download_url
      const payload = {
        eventTicketClasses: [googleClass(pass.content, google)],
        eventTicketObjects: [googleObject(pass.content, google)],
      }
      const claims = { typ: 'savetowallet', origins: [], payload }
      return saveAddress(await signedJwt(parseServiceAccount(google.serviceAccount), 'google', claims, { now: now() }))
    },
    applePackage: async (pass) => {
      const signer = await signerOf(apple)
      return applePackage(pass, apple, (manifest) => detachedSignature(manifest, signer, now()))
    },
    callbackSenders: (isFresh) => googleCallbackSenders(isFresh, now()),
    updateGoogle: async (content) => {
      const { id } = googleObject(content, google)
      const options = { apiBase: google.apiBase, now: now() }
      try {
        return await patchObject(parseServiceAccount(google.serviceAccount), id, googleUpdate(content), options)
      } catch {
        // The account or its key is invalid.
        return { ok: false, kind: 'configuration', code: 'no_account' }
      }
    },
    pushApple: async ({ push_token }) => (push ? pushToPhone(push, apple.passTypeId, push_token) : 'off'),
  }
}
