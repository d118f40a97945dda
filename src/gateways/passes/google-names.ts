/** Names that Google signs callbacks with, and where each has its root keys: older pages of its documentation, and newer ones. */
export const googleSenders = [
  { name: 'GooglePayPasses', keysUrl: 'https://pay.google.com/gp/m/issuer/keys' },
  { name: 'GoogleWalletPasses', keysUrl: 'https://wallet.google.com/gp/m/issuer/keys' },
] as const

export const googleSenderNames = googleSenders.map(({ name }) => name)

export const buildSaveUrl = (jwt: string): string => `https://pay.google.com/gp/v/save/${jwt}`
