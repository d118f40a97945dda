export const development = {}
