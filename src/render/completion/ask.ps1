# PowerShell completion of kubectl-rollout2.

Register-ArgumentCompleter -Native -CommandName 'kubectl-rollout2', 'kubectl-rollout2.exe' -ScriptBlock {
    param($typed, $line, $cursor)
    # The words before the cursor; the last one is empty when the cursor stands behind a blank.
    $before = $line.CommandElements | Where-Object { $_.Extent.EndOffset -le $cursor } | ForEach-Object { "$_" }
    $program, $words = @($before)
    $words = @($words)
    if ($typed -eq '') {
        # PowerShell before 7.3 drops an empty argument unless it is quoted twice.
        $words += if ($PSVersionTable.PSVersion -lt [version]'7.3.0' -or $PSNativeCommandArgumentPassing -eq 'Legacy') { '""' } else { '' }
    }
    $answer = @(& $program __complete @words 2>$null)
    if ($answer.Count -eq 0) { return }
    $directive = [int]($answer[-1] -replace '^:', '')
    if (-not ($directive -band 4)) { return } # file names are PowerShell's own business
    $kept = if ($typed -match '^(-[^=]*=)') { $Matches[1] } else { '' }
    $blank = if ($directive -band 2) { '' } else { ' ' }
    $answer | Select-Object -SkipLast 1 | ForEach-Object {
        $word, $description = $_ -split "`t", 2
        if (-not $description) { $description = $word }
        [System.Management.Automation.CompletionResult]::new("$kept$word$blank", $word, 'ParameterValue', $description)
    }
}
