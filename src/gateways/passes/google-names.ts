/** The names under which Google signs callbacks, an old and a new one, and the URLs of their root keys. */
export const googleSenders = [
  { name: 'GooglePayPasses', keysUrl: 'https://pay.google.com/gp/m/issuer/keys' },
  { name: 'GoogleWalletPasses', keysUrl: 'https://wallet.google.com/gp/m/issuer/keys' },
] as const

export const googleSenderNames = googleSenders.map(({ name }) => name)

export const buildSaveUrl = (jwt: string): string => `https://pay.google.com/gp/v/save/${jwt}`
