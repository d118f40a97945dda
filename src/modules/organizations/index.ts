export { findOrganization } from './queries.ts'
export { type OrganizationSummaryRow, organizationSummaryColumns, presentOrganizationSummary } from './summary.ts'
