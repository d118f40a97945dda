import manifest from '../../package.json' with { type: 'json' }

/** The version of this service. */
export const { version } = manifest
