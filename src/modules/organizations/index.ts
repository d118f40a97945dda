export { type OrganizationSummaryRow, organizationSummaryColumns, presentOrganizationSummary } from './summary.ts'
